"use strict";
// Between the stored cells; the twin of oscsim.design.reading and .surrogate.
function sheetReading(data) {
  function position(value, axis) {
    if (!axis.isLog) return value;
    const positive = axis.values.filter((v) => v > 0);
    const least = positive[0];
    const step = positive.length > 1 ? Math.log(positive[1] / least) : 1;
    return Math.log(Math.max(value, least) / least) + (Math.min(value, least) / least - 1) * step;
  }

  function valueAt(at, axis) {
    if (!axis.isLog) return at;
    const positive = axis.values.filter((v) => v > 0);
    const least = positive[0];
    const step = positive.length > 1 ? Math.log(positive[1] / least) : 1;
    return at >= 0 ? least * Math.exp(at) : least * (1 + at / step);
  }

  // Where the loss is read by its logarithm: NaN where a number has none.
  const logPosition = (value, axis) =>
    (axis.isPower ? (value > 0 ? Math.log(value) : NaN) : position(value, axis));

  // Along each axis the stored value below, and how far it is to the next one.
  function placesOf(numbers) {
    return data.axes.map((axis, n) => {
      const where = axis.values.map((v) => position(v, axis));
      const at = position(numbers[n], axis);
      let k = 0;
      while (k < where.length - 2 && at >= where[k + 1]) k += 1;
      const [low, high] = [k, k + 1].map((j) => logPosition(axis.values[j], axis));
      return {
        size: where.length,
        below: k,
        share: (at - where[k]) / (where[k + 1] - where[k]),
        logShare: (logPosition(numbers[n], axis) - low) / (high - low),
      };
    });
  }

  const cellOf = (places, sides) =>
    places.reduce((index, { size, below }, n) => index * size + below + sides[n], 0);

  // Every choice of an end, 0 or 1, of each of some axes.
  const ends = (axes) =>
    axes.reduce((found) => found.flatMap((end) => [[...end, 0], [...end, 1]]), [[]]);

  const weight = (shares, end) =>
    shares.reduce((product, share, k) => product * (end[k] ? share : 1 - share), 1);

  const held = (sides, axes, end) => {
    const found = [...sides];
    axes.forEach((axis, k) => { found[axis] = end[k]; });
    return found;
  };

  // A straight one: multilinear.
  function between(grid, places) {
    if (grid.some((x) => x === null)) return null;
    const shares = places.map((place) => place.share);
    return ends(places).reduce((sum, end) =>
      sum + weight(shares, end) * grid[cellOf(places, end)], 0);
  }

  const isByLog = (...losses) => {
    const least = Math.min(...losses);
    return least > 0 && least <= data.mostByLog;
  };

  // The loss: by its logarithm where all edges of a face are, else blended from faces.
  function lossBetween(losses, places) {
    const known = new Map();
    const face = (sides) => {
      const free = [...sides.keys()].filter((n) => sides[n] === null);
      if (!free.length) return losses[cellOf(places, sides)];
      const key = sides.join();
      if (!known.has(key)) known.set(key, byLog(sides, free) ?? blended(sides, free));
      return known.get(key);
    };
    const byLog = (sides, free) => {
      const shares = free.map((n) => places[n].logShare);
      const corner = (end) => losses[cellOf(places, held(sides, free, end))];
      const corners = ends(free).map((end) => ({ end, loss: corner(end) }));
      if (shares.some(Number.isNaN)) return null;
      const areEdges = corners.every(({ end, loss }) => end.every((side, k) =>
        side || isByLog(loss, corner(end.map((other, j) => (j === k ? 1 : other))))));
      if (!areEdges) return null;
      return Math.exp(corners.reduce((sum, { end, loss }) =>
        sum + weight(shares, end) * Math.log(loss), 0));
    };
    const blended = (sides, free) => {
      let total = 0;
      for (let kind = 1; kind < 2 ** free.length; kind += 1) {
        const some = free.filter((_, k) => (kind >> k) & 1);
        const sign = some.length % 2 ? 1 : -1;
        const shares = some.map((n) => places[n].share);
        ends(some).forEach((end) => {
          total += sign * weight(shares, end) * face(held(sides, some, end));
        });
      }
      return total;
    };
    return face(places.map(() => null));
  }

  // Of a digital metric what its loss leaves, and the other way round.
  const sign = data.isLossBits ? 1 : -1;
  const lossOf = (metric, model) => sign * (metric / model.digital - 1);

  const losses = new Map(data.models.map((model) =>
    [model, model.metric.map((metric) => lossOf(metric, model))]));

  function predict(model, places) {
    const loss = lossBetween(losses.get(model), places);
    return {
      metric: model.digital * (1 + sign * loss),
      loss,
      halfWidth: between(model.halfWidth, places),
      joules: model.joules && model.joules.map((grid) => between(grid, places)),
      latency: model.latency && between(model.latency, places),
    };
  }

  return { position, valueAt, placesOf, predict, sign };
}
