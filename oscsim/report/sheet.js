"use strict";
// The sliders and choices of a design sheet, and the answer they get.
(() => {
  const data = JSON.parse(document.getElementById("grids").textContent);
  const STEPS = 20; // stops of a slider between two stored values
  const BEST = "best";
  const ofDOsc = (dOsc) => `d-osc:${dOsc}`; // the best of several models of one d_osc
  const least = data.isLossBits ? "least" : "most";
  const byId = (id) => document.getElementById(id);
  const detailed = new Set(data.detailed);

  const { position, valueAt, placesOf, predict, sign } = sheetReading(data);

  const PREFIXES = { "-18": "a", "-15": "f", "-12": "p", "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k" };
  function quantity(value, unit) {
    const rounded = Number(value.toPrecision(3));
    let power = rounded === 0 ? 0 : 3 * Math.floor(Math.log10(Math.abs(rounded) * (1 + 1e-12)) / 3);
    power = Math.min(Math.max(power, -18), 3);
    return `${Number((rounded / 10 ** power).toPrecision(3))} ${PREFIXES[power]}${unit}`;
  }

  function element(tag, text, kind) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  // A slider stands at stop s: stored value s / STEPS, or a share between two.
  function valueOfStop(stop, axis) {
    if (axis.isWhole) return stop;
    const k = Math.min(Math.floor(stop / STEPS), axis.values.length - 2);
    const share = (stop - k * STEPS) / STEPS;
    if (share === 0 || share === 1) return axis.values[k + share];
    const [low, high] = [position(axis.values[k], axis), position(axis.values[k + 1], axis)];
    return Number(valueAt(low + share * (high - low), axis).toPrecision(3));
  }

  function stopOfValue(value, axis) {
    if (axis.isWhole) return Math.round(value);
    let k = 0;
    while (k < axis.values.length - 2 && value >= axis.values[k + 1]) k += 1;
    const [low, high] = [position(axis.values[k], axis), position(axis.values[k + 1], axis)];
    return Math.round(STEPS * (k + (position(value, axis) - low) / (high - low)));
  }

  const controls = data.axes.map((axis, n) => {
    const slider = byId(`slider-${n}`);
    const field = byId(`number-${n}`);
    const error = byId(`error-${n}`);
    const last = axis.values.length - 1;
    slider.min = axis.isWhole ? axis.values[0] : 0;
    slider.max = axis.isWhole ? axis.values[last] : STEPS * last;
    slider.step = 1;
    const control = { axis, slider, field, error, value: axis.start };
    const place = (value) => {
      slider.value = stopOfValue(value, axis);
      slider.setAttribute("aria-valuetext", String(value));
    };
    slider.addEventListener("input", () => {
      control.value = valueOfStop(Number(slider.value), axis);
      field.value = control.value;
      slider.setAttribute("aria-valuetext", String(control.value));
      show();
    });
    field.addEventListener("input", () => {
      control.value = field.value.trim() === "" ? NaN : Number(field.value);
      if (problem(control) === "") place(control.value);
      show();
    });
    field.value = axis.start;
    place(axis.start);
    return control;
  });
  const choices = data.choices.map((choice, n) => ({ ...choice, field: byId(`choice-${n}`) }));
  const modelField = byId("model");
  [modelField, ...choices.map((one) => one.field)].forEach((one) => one.addEventListener("change", show));

  function problem({ axis, value }) {
    const [low, high] = [axis.values[0], axis.values[axis.values.length - 1]];
    if (!Number.isFinite(value)) return `Give a number from ${low} to ${high}.`;
    if (value < low || value > high) {
      return `${value} lies outside the data: it was run from ${low} to ${high}. No prediction.`;
    }
    if (axis.isWhole && !Number.isInteger(value)) return `${value}: whole numbers only.`;
    return "";
  }

  function show() {
    let isInside = true;
    controls.forEach((control) => {
      const said = problem(control);
      if (control.error.textContent !== said) control.error.textContent = said;
      control.field.setAttribute("aria-invalid", said === "" ? "false" : "true");
      if (said !== "") isInside = false;
    });
    const chosen = Object.fromEntries(choices.map((one) => [one.name, one.field.value]));
    const models = data.models.filter((model) =>
      Object.entries(chosen).every(([name, value]) => model.chosen[name] === value));
    const answer = byId("answer");
    const others = byId("others");
    answer.replaceChildren();
    others.replaceChildren();
    answer.removeAttribute("data-metric");
    if (!isInside) {
      refuse(answer, "Outside the data: no number is given. Bring every number back into the range that was run.");
      return;
    }
    if (!models.length) {
      refuse(answer, "No model has all cells for this choice: no number is given.");
      return;
    }
    const places = placesOf(controls.map((one) => one.value));
    const found = models.map((model) => ({ model, at: predict(model, places) }));
    const bestOf = (some) => some.reduce((a, b) => (sign * b.at.metric < sign * a.at.metric ? b : a));
    const best = bestOf(found);
    const asked = found.filter(({ model }) =>
      [BEST, ofDOsc(model.dOsc), model.name].includes(modelField.value));
    if (!asked.length) {
      refuse(answer, "This model lacks cells for this choice: no number is given.");
      return;
    }
    const one = bestOf(asked);
    follow(one.model.dOsc);
    describe(answer, one, one === best, found);
    tell(`${called(one.model)}: ${around4(one.at)} ${data.metric}, loss ${percent(one.at.loss)}`);
    list(others, found, best);
  }

  function refuse(answer, why) {
    answer.append(element("p", "–", "large-number"), element("p", why));
    tell(why);
  }

  // Two decimals without a minus before nothing.
  const percent = (share) => `${(100 * share).toFixed(2)} %`.replace(/^-(0\.00 )/, "$1");
  const called = (model) => (model.dOsc ? `${model.name} (d_osc ${model.dOsc})` : model.name);
  const around4 = (at) => at.metric.toFixed(4) + (at.halfWidth === null ? "" : ` ± ${at.halfWidth.toFixed(4)}`);
  const energy = (at) => (at.joules ? quantity(at.joules[1], "J") : "not priced");

  function describe(answer, { model, at }, isBest, found) {
    answer.dataset.metric = at.metric;
    answer.dataset.loss = at.loss;
    answer.append(element("p", `${called(model)}${isBest && found.length > 1 ? `, ${least} here` : ""}`));
    answer.append(element("p", around4(at), "large-number"));
    answer.append(element("p", `${data.metric} (${data.direction}); digital ${model.digital.toFixed(4)}`));
    answer.append(element("p", `Loss ${percent(at.loss)} of the digital metric`));
    answer.append(element("p", at.joules
      ? `Energy per token ${energy(at)}, assumption range ${quantity(at.joules[0], "J")}..${quantity(at.joules[2], "J")} (p10..p90)`
      : `Energy per token: no price (${model.unpriced})`));
    if (at.latency !== null) answer.append(element("p", `Time per token ${quantity(at.latency, "s")}`));
    if (isBest && found.length > 1) answer.append(element("p", told(model, at, found)));
    answer.append(nearest(model));
  }

  // Whether the least is told apart: as the table of best models, where that says it.
  function told(model, at, found) {
    const here = Object.fromEntries([
      ...controls.map((one) => [one.axis.name, one.value]),
      ...choices.map((one) => [one.name, one.field.value]),
    ]);
    const names = Object.keys(here);
    const tested = data.optima.find((one) => one.best === model.name &&
      names.every((name) => String(one.at[name]) === String(here[name])));
    if (tested) {
      const open = found.filter((x) => tested.undecided.includes(x.model.name));
      return open.length
        ? `Not told apart, over chips and items, from ${open.map((x) => called(x.model)).join(", ")}`
        : "Told apart from all others, over chips and items; other trainings may differ";
    }
    const close = found.filter((x) => x.model !== model &&
      !(Math.abs(x.at.metric - at.metric) > x.at.halfWidth + at.halfWidth && x.at.halfWidth !== null && at.halfWidth !== null));
    return close.length
      ? `Not told apart, as intervals over chips overlap, from ${close.map((x) => called(x.model)).join(", ")}`
      : "Intervals over chips do not overlap with others; items and other trainings are not in them";
  }

  function nearest(model) {
    let index = 0;
    let isStored = true;
    controls.forEach(({ axis, value }) => {
      const at = position(value, axis);
      let best = 0;
      axis.values.forEach((v, k) => {
        if (Math.abs(position(v, axis) - at) < Math.abs(position(axis.values[best], axis) - at)) best = k;
      });
      if (axis.values[best] !== value) isStored = false;
      index = index * axis.values.length + best;
    });
    const line = element("p", isStored ? "A stored cell: " : "Interpolated; the nearest stored cell: ");
    const cell = model.cells[index];
    const link = element(detailed.has(cell) ? "a" : "span", `cell ${cell}`);
    if (detailed.has(cell)) link.href = `#cell-${cell}`;
    line.append(link);
    return line;
  }

  function list(others, found, best) {
    const priced = found.some((one) => one.at.joules);
    const head = ["model", data.metric, "loss", ...(priced ? ["energy per token"] : []), ""];
    const table = element("table", "", "stack");
    table.append(element("thead"), element("tbody"));
    const first = element("tr");
    head.forEach((name, k) => first.append(element("th", name, k && name ? "number" : "")));
    table.tHead.append(first);
    found.forEach((one) => {
      const cells = [called(one.model), around4(one.at), percent(one.at.loss),
        ...(priced ? [energy(one.at)] : []), one === best && found.length > 1 ? least : ""];
      const row = element("tr");
      cells.forEach((text, k) => {
        const cell = element("td", text, k && head[k] ? "number" : "");
        if (k && head[k] && text) cell.dataset.name = head[k];
        row.append(cell);
      });
      table.tBodies[0].append(row);
    });
    others.append(table);
  }

  const dOscSlider = data.dOscs.length ? byId("slider-d-osc") : null;
  if (dOscSlider) {
    dOscSlider.addEventListener("input", () => {
      const dOsc = data.dOscs[Number(dOscSlider.value)];
      const names = new Set(data.models.filter((m) => m.dOsc === dOsc).map((m) => m.name));
      modelField.value = names.size === 1 ? [...names][0] : ofDOsc(dOsc);
      show();
    });
  }

  // The slider of d_osc stands where the model is that is shown.
  function follow(dOsc) {
    if (!dOscSlider) return;
    if (dOsc !== null) dOscSlider.value = data.dOscs.indexOf(dOsc);
    dOscSlider.setAttribute("aria-valuetext", dOsc === null ? "none" : String(dOsc));
    byId("number-d-osc").textContent = dOsc ?? "none";
  }

  // One short sentence for a screen reader, once the numbers stand still.
  let timer = 0;
  function tell(text) {
    byId("brief").textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => { byId("told").textContent = text; }, 400);
  }

  byId("predictor").hidden = false;
  show();
})();
