// Counts views of a page, and presses of <satchel-press>. It stores nothing in the browser.
(function (d, n, s) {
 function send(what) {
  if (n.globalPrivacyControl || n.doNotTrack == "1") return Promise.resolve(false)
  // Text needs no preflight; without credentials no cookie goes along.
  return fetch(new URL("/api/v1/counters/" + s.dataset.counter + "/clicks", s.src), {
   method: "POST", body: JSON.stringify(what), credentials: "omit", keepalive: true
  }).then(r => r.json()).then(a => a.counted == true, () => false)
 }
 function view() {
  if (d.hidden) return
  d.removeEventListener("visibilitychange", view)
  send({ kind: "view", referrer: d.referrer.slice(0, 1000) })
 }
 if (s.dataset.views != "off" && self == top) {
  d.addEventListener("visibilitychange", view)
  view()
 }
 customElements.define("satchel-press", class extends HTMLElement {
  connectedCallback() {
   if (this.b) return
   let b = this.b = d.createElement("button"), busy
   b.type = "button"
   b.append(...this.childNodes)
   this.append(b)
   this.setAttribute("aria-live", "polite")
   b.onclick = () => {
    if (busy) return
    busy = 1
    send({ kind: "press", label: this.getAttribute("label") }).then(counted => {
     busy = 0
     this.dataset.counted = counted
     if (counted && this.getAttribute("done")) b.textContent = this.getAttribute("done")
    })
   }
  }
 })
})(document, navigator, document.currentScript)
