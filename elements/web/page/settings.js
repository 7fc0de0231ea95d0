// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings: the values of all controls as a file that the user keeps, or as the
// sink's own; and the pipeline as text.

import { findControls } from './controls.js';
import { download } from './download.js';
import { canChange, listen, request } from './remote.js';

const $ = (id) => document.getElementById(id);
const note = $('settings-note');
const refused = $('settings-refused');
const version = 1;
let canSave = false; // the sink has a settings-file
let saved = null; // the values as text, while the note says that they are saved

const properties = () => findControls(({ type }) =>
  type !== 'signal' && type !== 'missing');

function say(text, state = '') {
  note.textContent = text;
  note.dataset.state = state;
  refused.hidden = true;
  saved = null;
}

// ---- files of the user ----

// Returns the text of a file with the values in force.
function fileText() {
  const values = {};
  for (const { description: { control, type }, value } of properties()) {
    if (value !== undefined && (value !== null || type === 'text')) {
      values[control] = value ?? '';
    }
  }
  return JSON.stringify({ visionwebsink: version, values }, null, 2) + '\n';
}

function saySaved(text) {
  say(text);
  saved = fileText();
}

function save() {
  download(new Blob([fileText()], { type: 'application/json' }),
    document.title.replace(/[^\w.-]+/g, '_') + '-settings.json');
  saySaved('Saved to a file of this browser.');
}

// Returns the values in the text of a file.
function parse(text) {
  const file = JSON.parse(text);
  if (file?.visionwebsink !== version || typeof file.values !== 'object'
      || file.values === null || Array.isArray(file.values)) {
    throw new Error('it is not a file of "Save settings"');
  }
  return Object.entries(file.values);
}

// Sets a value. Returns why that was refused, or ''.
async function set([control, value]) {
  const row = properties().find(({ description }) =>
    description.control === control);
  if (!row) {
    return 'the sink has no such control now';
  }
  if (JSON.stringify(row.value ?? '') === JSON.stringify(value)) {
    return '';
  }
  const { reason = '' } = await row.change(value);
  return reason;
}

async function load(file) {
  try {
    const entries = parse(await file.text());
    const reasons = await Promise.all(entries.map(set));
    const failed = entries.map(([control], i) => `${control}: ${reasons[i]}`)
      .filter((_, i) => reasons[i] !== '');
    say(`${entries.length - failed.length} of ${entries.length} values loaded.`);
    refused.replaceChildren(...failed.map((textContent) =>
      Object.assign(document.createElement('li'), { textContent })));
    refused.hidden = failed.length === 0;
  } catch ({ message }) {
    say(`${file.name} cannot be loaded: ${message}.`, 'bad');
  }
}

// ---- the sink's file, and the pipeline ----

async function keep() {
  try {
    await request({ type: 'save' });
    saySaved('Saved. The next start begins with these values.');
  } catch ({ message }) {
    say('Not saved: ' + message, 'bad');
  }
}

async function showLine() {
  try {
    const { value } = await request({ type: 'line' });
    $('line-text').textContent = 'gst-launch-1.0 ' + value;
    $('copy-line').textContent = 'Copy';
    $('line-note').hidden = !canSave;
    $('line').showModal();
  } catch ({ message }) {
    say('No command line: ' + message, 'bad');
  }
}

// Browsers have a clipboard only for https and localhost.
async function copyLine() {
  getSelection().selectAllChildren($('line-text'));
  try {
    await navigator.clipboard.writeText($('line-text').textContent);
    $('copy-line').textContent = 'Copied';
  } catch {
    $('copy-line').textContent =
      document.execCommand('copy') ? 'Copied' : 'Selected: press Ctrl+C';
  }
}

function update() {
  const mayChange = canChange();
  $('settings').hidden = properties().length === 0;
  $('load-settings').hidden = !mayChange;
  $('keep-settings').hidden = !mayChange || !canSave;
  $('show-line').hidden = !mayChange;
  if (saved !== null && saved !== fileText()) {
    say('The settings have changed since they were saved.');
  }
}

$('save-settings').addEventListener('click', save);
$('load-settings').addEventListener('click', () => $('settings-file').click());
$('settings-file').addEventListener('change', async ({ target }) => {
  const [file] = target.files;
  if (file) {
    await load(file);
  }
  target.value = ''; // so that the same file can be loaded again
});
$('keep-settings').addEventListener('click', keep);
$('show-line').addEventListener('click', showLine);
$('copy-line').addEventListener('click', copyLine);
$('close-line').addEventListener('click', () => $('line').close());
listen('controls', ({ can_save: saves }) => {
  canSave = saves;
  update();
});
document.addEventListener('controls-changed', update);
