export default function (component) {
  const app = document.querySelector(".stApp"), parent = component.parentElement
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  if (frame) frame.style.display = "none"
  const phone = matchMedia("(max-width: 640px)")
  const check = () => {
    const scheme = getComputedStyle(app).colorScheme
    if (scheme !== component.data.drawn) component.setStateValue("theme", scheme)
    if (phone.matches !== component.data.phone) component.setStateValue("phone", phone.matches)
  }
  const watcher = new MutationObserver(check)
  watcher.observe(app, { attributes: true, attributeFilter: ["class"] })
  phone.addEventListener("change", check)
  check()
  return () => {
    watcher.disconnect()
    phone.removeEventListener("change", check)
    if (frame) frame.style.display = ""
  }
}
