// SPDX-License-Identifier: LGPL-2.1-or-later
// The shapes of zones: where a place lies to them, and how they look.

import { frameSize, handle, outline, svg, toScreen } from './draw.js';
import { refusalOf } from './history.js';
import { isLine } from './zones-text.js';

// Returns the middle of the edge from point i.
export function middle(points, i) {
  const a = points[i], b = points[(i + 1) % points.length];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

// Whether a polygon encloses a place an odd number of times.
export function contains(points, { x, y }) {
  return points.filter((a, i) => {
    const b = points[(i + 1) % points.length];
    return (a.y > y) !== (b.y > y)
      && x < a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
  }).length % 2 === 1;
}

// Returns twice the area of a polygon.
export function areaOf(points) {
  return Math.abs(points.reduce((sum, a, i) => {
    const b = points[(i + 1) % points.length];
    return sum + a.x * b.y - b.x * a.y;
  }, 0));
}

function distanceToEdge(a, b, at) {
  const dx = b.x - a.x, dy = b.y - a.y;
  const part = ((at.x - a.x) * dx + (at.y - a.y) * dy) / (dx * dx + dy * dy || 1);
  const t = Math.min(Math.max(part, 0), 1);
  return Math.hypot(a.x + t * dx - at.x, a.y + t * dy - at.y);
}

// Returns the distance on the screen to the nearest edge.
export function distanceTo(points, at, isClosed) {
  const on = points.map(toScreen), place = toScreen(at);
  const edges = isClosed ? on : on.slice(0, -1);
  return Math.min(...edges.map((a, i) =>
    distanceToEdge(a, on[(i + 1) % on.length], place)));
}

function pathOf(points, isClosed) {
  return 'M' + points.map(toScreen).map(({ x, y }) => `${x} ${y}`).join('L')
    + (isClosed ? 'Z' : '');
}

// Near the right edge, text ends at it.
function caption(text, { x, y }, anchor = 'start') {
  const right = toScreen({ x: frameSize().width, y: 0 }).x;
  const node = svg('text', anchor === 'start' && x > right - 70
    ? { x: right - 4, y, 'text-anchor': 'end' } : { x, y, 'text-anchor': anchor });
  node.textContent = text;
  return node;
}

// Returns a function that returns places on the screen: at(part of the way from a
// to b, pixels along, pixels to the left), or null if a is b.
function along(a, b) {
  const from = toScreen(a), to = toScreen(b);
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy);
  return length === 0 ? null : (part, ahead, left) => ({
    x: from.x + part * dx + (ahead * dx + left * dy) / length,
    y: from.y + part * dy + (ahead * dy - left * dx) / length });
}

// An arrow across a line to its left, seen from its first point: that is "in".
function arrow(a, b) {
  const at = along(a, b);
  if (at === null) {
    return [];
  }
  const text = (...place) => Object.values(at(0.5, ...place)).join(' ');
  const { x, y } = at(0.5, 0, 38);
  return [...outline('path', { d: `M${text(0, -14)}L${text(0, 26)}M${text(-7, 18)}`
    + `L${text(0, 26)}L${text(7, 18)}`, 'data-arrow': text(0, 26) }),
  caption('in', { x, y: y + 5 }, 'middle')];
}

// The name stands beside the first point; that of a line on its other side.
function nameOf(zone, points) {
  const beside = isLine(zone) && along(...points)?.(0, 0, -18);
  const { x, y } = beside || toScreen(points[0]);
  return beside ? caption(zone.name, { x, y: y + 5 },
    x < toScreen(points[0]).x - 9 ? 'end' : 'start')
    : caption(zone.name, { x: x + 10, y: y < 24 ? y + 20 : y - 10 });
}

function paintHandles(tool, i, zone, points) {
  const nodes = [];
  points.forEach((point, k) => {
    nodes.push(handle(point, `point ${i} ${k}`, `Point ${k + 1} of ${zone.name}`,
      k === tool.point));
    if (!isLine(zone)) {
      const node = handle(middle(points, k), `edge ${i} ${k}`,
        `New point after point ${k + 1} of ${zone.name}`);
      node.classList.add('between');
      node.setAttribute('r', 4);
      nodes.push(node);
    }
  });
  return nodes;
}

function paintZone(tool, zone, i) {
  const points = tool.points(zone), isChosen = i === tool.zone;
  const kind = (isChosen ? 'chosen' : '') + (refusalOf(tool.control) ? ' bad' : '')
    + (isLine(zone) ? '' : ' filled');
  const nodes = outline('path', { d: pathOf(points, !isLine(zone)) }, kind);
  for (const [key, value] of [['tabindex', 0], ['data-key', `zone ${i}`],
    ['role', 'button'], ['aria-label', `Zone ${zone.name}`]]) {
    nodes.at(-1).setAttribute(key, value);
  }
  return [...nodes, ...isLine(zone) ? arrow(...points) : [],
    nameOf(zone, points), ...isChosen ? paintHandles(tool, i, zone, points) : []];
}

function paintNew({ kind, points, next }) {
  const all = next === null ? points : [...points, next];
  if (all.length === 0) {
    return [];
  }
  return [...outline('path', { d: pathOf(all, false) }, 'dashed'),
    ...kind === 'line' && all.length === 2 ? arrow(...all) : [],
    ...points.map((point, i) => {
      const { x, y } = toScreen(point);
      return svg('circle', { cx: x, cy: y, r: i === 0 ? 8 : 5, class: 'handle' });
    })];
}

// Returns the SVG nodes of a ZoneTool's zones.
export function paintZones(tool) {
  return !frameSize() ? [] : [...tool.zones().flatMap((zone, i) =>
    tool.isShown(zone) ? paintZone(tool, zone, i) : []),
  ...tool.drawing ? paintNew(tool.drawing) : []];
}
