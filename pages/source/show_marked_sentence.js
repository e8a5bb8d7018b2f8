// Pages are higher than screens, and the mark may be at the foot
export default function (component) {
  const parent = component.parentElement
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  if (frame) frame.style.display = "none"
  let tries = 20
  const show = () => {
    const spot = document.querySelector(".source-page .spot:not(.other)")
    const picture = document.querySelector(".source-page img")
    if (spot && picture && picture.complete) spot.scrollIntoView({ block: "center" })
    else if (tries-- > 0) setTimeout(show, 100)
  }
  if (component.data.address !== window.lastSourceAddress) show()
  window.lastSourceAddress = component.data.address
}
