// SPDX-License-Identifier: LGPL-2.1-or-later
// The JSON of visionzones' property zones, and changes of it. What is not changed
// stays as it was written: keys, coordinates and their units.

// Returns {zones: [...], ...}, or null if the text cannot be read.
export function parseZones(text) {
  if (text.trim() === '') {
    return { zones: [] };
  }
  try {
    const all = JSON.parse(text);
    return Array.isArray(all?.zones) && all.zones.every(
      (zone) => Array.isArray(zone?.polygon ?? zone?.line)) ? all : null;
  } catch {
    return null;
  }
}

export function isLine(zone) {
  return zone.line !== undefined;
}

export function coordinatesOf(zone) {
  return zone.line ?? zone.polygon;
}

// Returns the size of the frame in the units of the text.
function unitsOf(all, { width, height }) {
  return all.units === 'pixels' ? { x: 1, y: 1 } : { x: width, y: height };
}

export function pointsOf(all, zone, frame) {
  const unit = unitsOf(all, frame);
  return coordinatesOf(zone).map(([x, y]) => ({ x: x * unit.x, y: y * unit.y }));
}

// Returns coordinates for a point in pixels of the frame. Five decimals are finer
// than a pixel of the largest frame.
function coordinates(all, { x, y }, frame) {
  const unit = unitsOf(all, frame);
  return [Math.round(x) / unit.x, Math.round(y) / unit.y].map(
    (value) => Number(value.toFixed(5)));
}

export function setPoint(all, zone, i, point, frame) {
  coordinatesOf(zone)[i] = coordinates(all, point, frame);
}

export function insertPoint(all, zone, i, point, frame) {
  coordinatesOf(zone).splice(i, 0, coordinates(all, point, frame));
}

// Returns whether the point could be removed: a polygon needs three.
export function removePoint(zone, i) {
  const enough = !isLine(zone) && zone.polygon.length > 3;
  if (enough) {
    zone.polygon.splice(i, 1);
  }
  return enough;
}

export function moveZone(all, zone, points, step, frame) {
  points.forEach(({ x, y }, i) =>
    setPoint(all, zone, i, { x: x + step.x, y: y + step.y }, frame));
}

function freeName(all, kind) {
  const used = new Set(all.zones.map(({ name }) => name));
  let n = 1;
  while (used.has(`${kind} ${n}`)) {
    n++;
  }
  return `${kind} ${n}`;
}

// Adds a "polygon" or "line"; stream: its number, or null for all.
export function addZone(all, kind, points, stream, frame) {
  const zone = { name: freeName(all, kind === 'line' ? 'line' : 'zone'),
    [kind]: points.map((point) => coordinates(all, point, frame)) };
  if (stream !== null) {
    zone.stream = stream;
  }
  all.zones.push(zone);
}

// Returns the numbers of streams that have zones of their own.
export function streamsOf(all) {
  return [...new Set(all.zones.map(({ stream }) => stream))]
    .filter((stream) => stream !== undefined).sort((a, b) => a - b);
}
