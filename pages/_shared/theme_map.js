export default function (component) {
  const host = component.parentElement.querySelector(".theme-map")
  const send = (event, number) => component.setTriggerValue(event, number)
  // This runs at every rerun of the page. The map keeps its position and zoom until its points change.
  const content = `${component.data.places.length} ${component.data.places.slice(0, 400)} ${component.data.theme}`
  if (host.content !== content) {
    host.map?.stop()
    host.content = content
    host.map = themeMap(host, component.data, (event, number) => host.send(event, number))
  } else host.map?.repaint()
  host.send = send
  return () => { host.map?.stop(); host.content = null }
}
