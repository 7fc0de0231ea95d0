// SPDX-License-Identifier: LGPL-2.1-or-later
// The editor of visionzones' zones: a list in the place of their text, while they
// are drawn on the picture.

import { addPainter, repaint, startTool, svg } from './draw.js';
import { create, editField } from './editors.js';
import { refusalOf, rowOf } from './history.js';
import { offerTool } from './offer.js';
import { ZoneTool } from './zone-tool.js';
import { isLine, streamsOf } from './zones-text.js';

const fileNote = 'Zones of the file in zones-location are used now. Zones that you '
  + 'draw replace them.';

const lineIcon = 'M2 14L14 2M5 5l3 3M5 8V5h3';
const polygonIcon = 'M2 6L9 2L14 8L11 14L4 13Z';

let editor = null; // {tool, node, state: what the list was made from}
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
  choose.append(svg('svg', { class: 'icon', viewBox: '0 0 16 16' },
    svg('path', { d: isLine(zone) ? lineIcon : polygonIcon })));
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

function list({ tool }) {
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

// Builds the list again if it differs.
function update() {
  if (editor === null) {
    return;
  }
  const { tool, node } = editor;
  const row = rowOf(tool.control);
  if (row !== undefined && !row.node.contains(node)) {
    row.editor.node.before(node);
    row.editor.node.hidden = true;
  }
  const state = JSON.stringify([tool.text, tool.zone, tool.stream, fileUsed,
    refusalOf(tool.control)]);
  if (state !== editor.state) {
    const focused = node.contains(document.activeElement)
      ? document.activeElement.getAttribute('aria-label') : null;
    editor.state = state;
    node.replaceChildren(...list(editor));
    node.querySelector(`[aria-label="${CSS.escape(focused ?? '')}"]`)?.focus();
  }
}

function open(row) {
  const tool = new ZoneTool(row.description.control);
  startTool(tool);
  editor = { tool, node: create('div', { className: 'zones' }), state: null };
  tool.end = () => {
    editor.node.remove();
    editor = null;
    const { editor: text } = rowOf(tool.control) ?? {};
    if (text) {
      text.node.hidden = false;
    }
  };
  repaint();
}

// Whether the editor shows what the table zone_outlines shows.
export function showsOutlines() {
  return editor !== null;
}

export function prepareZones() {
  addPainter(() => editor === null ? [] : editor.tool.paint());
  document.addEventListener('drawing-changed', update);
  document.addEventListener('controls-changed', () => {
    if (editor !== null) {
      repaint();
    }
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
