"use strict";
// Everything shown comes from the block of data, and goes to the page as text.
const page = JSON.parse(document.getElementById("page-data").textContent);
const slider = document.getElementById("rate");
const unit = document.getElementById("unit");
const prevalence = document.getElementById("prevalence");
const rows = [...document.querySelectorAll("#costs tr")];

const small = (value) => (Math.abs(value) < 1e-4 ? value.toExponential(1) : value.toPrecision(2));
const shown = (value, digits) => {
  if (!Number.isFinite(value)) return "–";
  return value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits ? small(value) : value.toFixed(digits);
};
const score = (value, lower) => {
  if (value === null) return lower ? "below all scores" : "above all scores";
  return (lower ? "≤ " : "") + String(Number(value.toPrecision(6)));
};

// What one stop of the slider says of a model.
function at(model, stop) {
  const points = model.at[unit.value];
  return Object.fromEntries(Object.keys(points).map((name) => [name, points[name][stop]]));
}

function costs(model, stop, share) {
  const { tpr, fpr, threshold } = at(model, stop);
  const [positives, negatives] = [1000 * share, 1000 * (1 - share)];
  const [hits, false_alarms] = [tpr * positives, fpr * negatives];
  const kept = (1 - fpr) * negatives;
  return {
    threshold: score(threshold, model.lower),
    tpr: shown(tpr, 4),
    fpr: fpr > 0 && fpr < 0.001 ? fpr.toPrecision(3) : shown(fpr, 4),
    hits: shown(hits, 1),
    false_alarms: shown(false_alarms, 1),
    missed: shown(positives - hits, 1),
    ppv: shown(hits / (hits + false_alarms), 3),
    npv: shown(kept / (kept + positives - hits), 3),
  };
}

function update() {
  const stop = Number(slider.value);
  const given = prevalence.checkValidity() ? prevalence.valueAsNumber / 100 : NaN;
  const share = prevalence.value === prevalence.defaultValue ? page.prevalence : given; // which is shown rounded
  const limit = page.stops[unit.value][stop];
  const rate = unit.value === "rate" ? String(limit) : limit.toLocaleString("en");
  slider.setAttribute("aria-valuetext", `${unit.selectedOptions[0].text.toLowerCase()} at most ${rate}`);
  document.getElementById("rate-shown").textContent = rate;
  page.models.forEach((model, k) => {
    for (const [name, text] of Object.entries(costs(model, stop, share))) {
      rows[k].querySelector(`[data-of="${name}"]`).textContent = text;
    }
  });
  for (const drawn of Bokeh.documents) {
    drawn.get_model_by_name("rate").visible = unit.value === "rate";
    drawn.get_model_by_name("rate").location = limit;
    drawn.get_model_by_name("marks").data = {
      fpr: page.models.map((model) => at(model, stop).fpr),
      tpr: page.models.map((model) => at(model, stop).tpr),
      color: page.models.map((model) => model.color),
    };
  }
}

// The vertex of any curve that is nearest to a place on the screen, unless it is far.
function nearest(drawn, view, place) {
  let [found, least] = [null, 24 ** 2];
  page.models.forEach((model, k) => {
    const curve = drawn.get_model_by_name(`curve ${k}`).data;
    for (let j = 0; j < curve.fpr.length; j++) {
      const [x, y] = [view.x_scale.compute(curve.fpr[j]), view.y_scale.compute(curve.tpr[j])];
      const distance = (x - place.sx) ** 2 + (y - place.sy) ** 2;
      if (distance >= least) continue;
      least = distance;
      const threshold = Number.isFinite(curve.threshold[j]) ? curve.threshold[j] : null;
      found = { model, x, y, fpr: curve.fpr[j], tpr: curve.tpr[j], threshold };
    }
  });
  return found;
}

function point(drawn, view, tip, place) {
  const found = place && nearest(drawn, view, place);
  tip.hidden = !found;
  const one = found ? { fpr: [found.fpr], tpr: [found.tpr], color: [found.model.color] } : { fpr: [], tpr: [], color: [] };
  drawn.get_model_by_name("pointed").data = one;
  if (!found) return;
  const rates = `FPR ${Number(found.fpr.toPrecision(5))}, TPR ${Number(found.tpr.toPrecision(5))}`;
  tip.replaceChildren(...[found.model.name, `threshold ${score(found.threshold, found.model.lower)}`, rates].map((text) => {
    const line = document.createElement("div");
    line.textContent = text;
    return line;
  }));
  const room = tip.parentElement.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(found.x + 14, room))}px`;
  tip.style.top = `${found.y + 14}px`;
}

async function draw(figure) {
  const views = await Bokeh.embed.embed_item(figure);
  const [root] = views;
  const [drawn, tip] = [root.model.document, document.getElementById(figure.target_id).nextElementSibling];
  root.model.on_event("mousemove", (place) => point(drawn, root.frame, tip, place));
  root.model.on_event("mouseleave", () => point(drawn, root.frame, tip, null));
}

async function start() {
  await Promise.all(page.figures.map(draw));
  for (const part of document.querySelectorAll("[data-needs-script]")) part.hidden = false;
  slider.addEventListener("input", update);
  unit.addEventListener("input", () => {
    slider.max = page.stops[unit.value].length - 1;
    slider.value = page.starts[unit.value];
    update();
  });
  prevalence.addEventListener("input", update);
  update();
  document.documentElement.dataset.ready = "yes";
}
start();
