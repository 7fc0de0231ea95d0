// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of interest: texts "left,top,right,bottom" in pixels of the frame. They
// are outlined on the picture, and can be drawn, moved, resized and cleared.

import { findControls } from './controls.js';
import { addPainter, boxOf, boxOutline, clamp, currentTool, distance, frameSize,
  handle, repaint, startTool, stepOf, svg, toScreen } from './draw.js';
import { changeText, drawnText, refusalOf } from './history.js';
import { mayDraw, offerTool } from './offer.js';

// Handles: which sides they move, as parts of the way from left and top.
const grips = [[0, 0, 'top left'], [0.5, 0, 'top'], [1, 0, 'top right'],
  [1, 0.5, 'right'], [1, 1, 'bottom right'], [0.5, 1, 'bottom'],
  [0, 1, 'bottom left'], [0, 0.5, 'left']];

function isRegion({ type, name }) {
  return type === 'text' && name === 'roi';
}

function parse(text) {
  const found = /^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*$/.exec(text);
  if (found === null) {
    return null;
  }
  const [x, y, right, bottom] = found.slice(1).map(Number);
  return { x, y, width: right - x, height: bottom - y };
}

function format({ x, y, width, height }) {
  return [x, y, x + width, y + height].join();
}

function corner({ x, y, width, height }, [fx, fy]) {
  return { x: x + fx * width, y: y + fy * height };
}

function inside(value, most) {
  return clamp(Math.round(value), Math.max(most, 0));
}

// Returns the box after its grip, or all of it (null), was moved.
function moved(box, grip, { x, y }) {
  const frame = frameSize();
  if (grip === null) {
    return { ...box, x: inside(box.x + x, frame.width - box.width),
      y: inside(box.y + y, frame.height - box.height) };
  }
  const [fx, fy] = grip;
  const a = { x: box.x, y: box.y };
  const b = { x: box.x + box.width, y: box.y + box.height };
  for (const [f, axis, step, most] of [[fx, 'x', x, frame.width],
    [fy, 'y', y, frame.height]]) {
    if (f !== 0.5) {
      const end = f === 0 ? a : b;
      end[axis] = inside(end[axis] + step, most);
    }
  }
  return boxOf(a, b);
}

class RegionTool {
  drags = true;
  live = null; // the box while it is dragged
  last; // the grip that was pressed last
  start = null; // {at, box, grip} of a drag; grip undefined: a new box

  constructor({ description }) {
    this.control = description.control;
  }

  stored() {
    return parse(drawnText(this.control));
  }

  hint() {
    return this.stored() === null ? 'Draw a rectangle.'
      : 'Drag the region or its handles, or draw another one beside it.';
  }

  actions() {
    return [{ text: 'Clear', title: 'The whole frame', disabled:
      drawnText(this.control) === '', run: () => changeText(this.control, '') }];
  }

  // Returns the grip at a place, null inside of the box, undefined outside.
  gripAt(at) {
    const box = this.stored();
    if (box === null) {
      return undefined;
    }
    const [nearest] = grips.map((grip) => [distance(at, corner(box, grip)), grip])
      .sort(([a], [b]) => a - b);
    const size = distance({ x: box.x, y: box.y }, corner(box, [1, 1]));
    if (nearest[0] <= Math.min(at.reach, size / 4)) {
      return nearest[1];
    }
    const within = at.x >= box.x && at.x <= box.x + box.width
      && at.y >= box.y && at.y <= box.y + box.height;
    return within ? null : undefined;
  }

  cursor(at) {
    const grip = this.start ? this.start.grip : this.gripAt(at);
    return grip === undefined ? 'crosshair' : 'move';
  }

  press(at) {
    this.start = { at, box: this.stored(), grip: this.gripAt(at) };
    this.last = this.start.grip;
  }

  chosen() {
    return this.last === undefined ? undefined
      : 'roi' + (this.last === null ? '' : ' ' + this.last[2]);
  }

  keyOnPicture(event) {
    return event.key === 'Delete' && this.key('roi', event);
  }

  drag(at) {
    const { at: from, box, grip } = this.start;
    this.live = grip === undefined ? boxOf(from, at)
      : moved(box, grip, { x: at.x - from.x, y: at.y - from.y });
  }

  release(at) {
    this.drag(at);
    this.set(this.live);
    this.live = this.start = null;
  }

  set(box, merge) {
    if (box.width > 0 && box.height > 0) {
      changeText(this.control, format(box), merge);
    }
  }

  escape() {
    const dragged = this.start !== null;
    this.live = this.start = null;
    return dragged;
  }

  key(name, event) {
    const box = this.stored(), step = stepOf(event);
    if (event.key === 'Delete' || event.key === 'Backspace') {
      changeText(this.control, '');
      return true;
    }
    if (step === null || box === null) {
      return false;
    }
    const grip = grips.find(([, , text]) => name === 'roi ' + text) ?? null;
    this.set(moved(box, grip, step), name);
    return true;
  }

  paint() {
    const box = this.live ?? this.stored();
    return box === null ? [] : grips.map((grip) =>
      handle(corner(box, grip), 'roi ' + grip[2], `Region: ${grip[2]}`));
  }
}

// ---- outlines ----

let shown = true;

function paintRegion({ description }) {
  const { control, element } = description;
  const tool = currentTool()?.control === control ? currentTool() : null;
  const box = tool?.live ?? parse(drawnText(control));
  if (box === null || !(shown || tool)) {
    return [];
  }
  const kind = refusalOf(control) ? 'dashed bad' : tool ? 'chosen' : 'dashed';
  const nodes = boxOutline(box, kind);
  const { x, y } = toScreen(box);
  const text = svg('text', { x: x + 5, y: y + 16 });
  text.textContent = `${element}.roi`;
  if (tool) {
    for (const [key, value] of [['tabindex', 0], ['data-key', 'roi'],
      ['role', 'button'], ['aria-label', 'Region']]) {
      nodes.at(-1).setAttribute(key, value);
    }
  }
  return [...nodes, text, ...tool?.paint() ?? []];
}

// addLayer(text, changed) adds a switch and returns its node.
export function prepareRegions(addLayer) {
  let layer = null;
  addPainter(() => mayDraw() ? findControls(isRegion).flatMap(paintRegion) : []);
  document.addEventListener('controls-changed', () => {
    if (!mayDraw() || findControls(isRegion).length === 0) {
      layer?.remove();
      layer = null;
    } else {
      layer ??= addLayer('Regions', (on) => {
        shown = on;
        repaint();
      });
    }
    repaint();
  });
}

offerTool(isRegion, ({ element }) => `Draw the region of ${element}`,
  (row) => startTool(new RegionTool(row)));
