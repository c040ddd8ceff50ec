"use strict";
// Links to cells: they open details, and the points of a figure are one stop of Tab.
(() => {
  function open() {
    const target = location.hash.startsWith("#cell-")
      ? document.getElementById(location.hash.slice(1)) : null;
    if (!target) return;
    for (let at = target.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
    target.focus();
    target.scrollIntoView();
  }

  const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

  function arrows(svg) {
    const points = [...svg.querySelectorAll("a")];
    if (!points.length) return;
    const said = document.createElement("p");
    said.className = "point";
    said.setAttribute("aria-hidden", "true");
    svg.parentElement.after(said);
    const idle = "Points lead to their cells: by pointer, or by Tab, arrows and Enter.";
    said.textContent = idle;
    const name = (point) => point.querySelector("title").textContent;
    points.forEach((point, k) => {
      point.setAttribute("tabindex", k ? "-1" : "0");
      point.setAttribute("aria-label", name(point));
      ["focus", "mouseenter"].forEach((kind) =>
        point.addEventListener(kind, () => { said.textContent = name(point); }));
      ["blur", "mouseleave"].forEach((kind) =>
        point.addEventListener(kind, () => { said.textContent = idle; }));
      point.addEventListener("keydown", (pressed) => {
        let next = k + (STEPS[pressed.key] ?? 0);
        if (pressed.key === "Home") next = 0;
        if (pressed.key === "End") next = points.length - 1;
        if (next === k || !points[next]) return;
        pressed.preventDefault();
        point.setAttribute("tabindex", "-1");
        points[next].setAttribute("tabindex", "0");
        points[next].focus();
      });
    });
  }

  document.querySelectorAll(".drawing svg").forEach(arrows);
  window.addEventListener("hashchange", open);
  open();
})();
