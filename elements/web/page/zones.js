// SPDX-License-Identifier: LGPL-2.1-or-later
// visionzones' zones: a list in the place of their text, which can be changed
// while they are drawn on the picture.

import { findControls } from './controls.js';
import { addPainter, repaint, startTool, svg } from './draw.js';
import { create, editField } from './editors.js';
import { refusalOf } from './history.js';
import { offerTool } from './offer.js';
import { ZoneTool } from './zone-tool.js';
import { coordinatesOf, isLine, parseZones, streamsOf } from './zones-text.js';

const fileNote = 'Zones of the file in zones-location are used now. Zones that you '
  + 'draw replace them.';

const lineIcon = 'M2 14L14 2M5 5l3 3M5 8V5h3';
const polygonIcon = 'M2 6L9 2L14 8L11 14L4 13Z';

const views = new WeakMap(); // by row: {node, text, state: what it was made from}
let editor = null; // the ZoneTool while zones are drawn
let fileUsed = false; // visionzones has zones that are not in the property

function isZones({ type, name, factory }) {
  return type === 'text' && name === 'zones' && factory === 'visionzones';
}

function button(text, label, clicked) {
  const node = create('button', { type: 'button', textContent: text });
  node.setAttribute('aria-label', label);
  node.addEventListener('click', clicked);
  return node;
}

function icon(zone) {
  return svg('svg', { class: 'icon', viewBox: '0 0 16 16' },
    svg('path', { d: isLine(zone) ? lineIcon : polygonIcon }));
}

function nameField(tool, zone, i) {
  const input = create('input', { type: 'text' });
  input.setAttribute('aria-label', `Name of ${zone.name}`);
  input.dataset.name = i;
  const field = editField(input, () => input.value,
    (value) => { input.value = value; },
    (name) => tool.edit(i, (one) => { one.name = name; }));
  field.show(zone.name);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      input.blur();
    }
  });
  return input;
}

function streamField(tool, zone, i) {
  const input = create('input', { type: 'number', min: 0, step: 1,
    placeholder: 'all' });
  const field = editField(input, () => input.valueAsNumber,
    (value) => { input.value = value ?? ''; },
    (stream) => tool.edit(i, (one) => {
      one.stream = Number.isNaN(stream) ? undefined : stream;
    }));
  field.show(zone.stream);
  return create('label', { className: 'stream', title:
    'Number of the stream in a batch; empty: all streams' }, 'Stream', input);
}

function item(tool, zone, i) {
  const choose = button('', `Choose ${zone.name}`, () => {
    tool.choose(i);
    repaint();
  });
  choose.append(icon(zone));
  choose.setAttribute('aria-pressed', i === tool.zone);
  const remove = button('✕', `Delete ${zone.name}`, () => {
    tool.choose(i);
    tool.remove();
  });
  const node = create('li', {}, choose, nameField(tool, zone, i), remove);
  if (i === tool.zone) {
    node.append(streamField(tool, zone, i));
  }
  return node;
}

// Chooses the stream whose zones are shown.
function streamChoice(tool, streams) {
  const select = create('select', {}, create('option',
    { value: '', textContent: 'all' }), ...streams.map((stream) =>
    create('option', { value: stream, textContent: stream })));
  select.value = tool.stream ?? '';
  select.addEventListener('change', () => {
    tool.stream = select.value === '' ? null : Number(select.value);
    repaint();
  });
  return create('label', { className: 'stream' }, 'Show stream', select);
}

// The list while zones are drawn.
function editable(tool) {
  if (tool.all === null) {
    return [];
  }
  const streams = streamsOf(tool.all);
  const items = tool.zones().map((zone, i) => [zone, i]).filter(
    ([zone]) => tool.isShown(zone)).map(([zone, i]) => item(tool, zone, i));
  const note = fileUsed && tool.text === '' ? fileNote
    : items.length === 0 ? 'No zones yet: draw one on the picture.'
      : refusalOf(tool.control) ? 'These zones are not in force yet.' : '';
  return [...streams.length > 0 ? [streamChoice(tool, streams)] : [],
    create('ul', {}, ...items),
    create('p', { className: 'message', textContent: note })];
}

function readable(text) {
  const all = parseZones(text);
  const note = all === null ? 'These zones cannot be read: edit them as text.'
    : all.zones.length > 0 ? '' : fileUsed ? fileNote : 'No zones.';
  return [create('ul', {}, ...(all?.zones ?? []).map((zone) => create('li', {},
    icon(zone), create('span', { textContent: zone.name }),
    create('span', { className: 'message', textContent:
      `${isLine(zone) ? 'line' : 'polygon'}, ${coordinatesOf(zone).length} points`
      + (zone.stream === undefined ? '' : `, stream ${zone.stream}`) })))),
  create('p', { className: 'message', textContent: note })];
}

// Puts a list in the place of the row's text, which can be opened below.
function addView(row) {
  const node = create('div', { className: 'zones' });
  const text = create('details', {}, create('summary', { textContent: 'As text' }));
  row.editor.node.replaceWith(node, text);
  text.append(row.editor.node);
  views.set(row, { node, text, state: null });
}

// Builds the list again if it differs.
function updateView(row) {
  const { control } = row.description, view = views.get(row), { node } = view;
  const tool = editor?.control === control ? editor : null;
  const state = JSON.stringify([tool === null ? row.value
    : [tool.text, tool.zone, tool.stream, refusalOf(control)], fileUsed]);
  if (state !== view.state) {
    const focused = node.contains(document.activeElement)
      ? document.activeElement.getAttribute('aria-label') : null;
    view.state = state;
    view.text.hidden = tool !== null;
    node.replaceChildren(...tool === null ? readable(row.value ?? '')
      : editable(tool));
    node.querySelector(`[aria-label="${CSS.escape(focused ?? '')}"]`)?.focus();
  }
}

function update() {
  for (const row of findControls(isZones)) {
    if (!views.has(row)) {
      addView(row);
    }
    updateView(row);
  }
}

function open(row) {
  const tool = new ZoneTool(row.description.control);
  startTool(tool);
  editor = tool;
  tool.end = () => { editor = null; };
  repaint();
}

// Whether the editor shows what the table zone_outlines shows.
export function showsOutlines() {
  return editor !== null;
}

export function prepareZones() {
  addPainter(() => editor === null ? [] : editor.paint());
  document.addEventListener('drawing-changed', update);
  document.addEventListener('controls-changed', () => {
    editor === null ? update() : repaint();
  });
  document.addEventListener('frame-shown', ({ detail }) => {
    const used = Boolean(detail.zones?.length);
    if (used !== fileUsed) {
      fileUsed = used;
      update();
    }
  });
}

offerTool(isZones, ({ element }) => `Draw the zones of ${element}`, open);
