// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows the frames from a WebSocket. Each message is the size of the record
// (uint32, little endian), the record, and the JPEG of the same frame. It is
// answered when it has been drawn; then the newest frame follows.
import './follow.js';
import './settings.js';
import { download } from './download.js';
import { prepareDrawing } from './draw.js';
import { preparePicks } from './pick.js';
import { closeRemote, openRemote } from './remote.js';
import { prepareRegions } from './roi.js';
import { holdFrame, prepareTeaching } from './teach.js';
import { Scene, colorOf, labelOf, tablesOf } from './scene.js';
import { prepareZones, showsOutlines } from './zones.js';

const $ = (id) => document.getElementById(id);
const canvas = $('canvas');
const context = canvas.getContext('2d');
const scene = new Scene();
const firstPause = 500, longestPause = 15000; // ms between attempts
const stall = 3000; // ms without a frame until the page says so

const layerNames = { boxes: 'Boxes', labels: 'Labels', confidences: 'Confidences',
  ids: 'Track ids', trails: 'Trails', tables: 'Lines and points' };
const layers = {};
const hidden = new Set(); // "label face", "table lines"
let shown = null; // {picture, record}
let frozen = false; // frames are taken, but not shown
let outlinesDrawn = false; // in another way, by the editor of zones
let socket = null;
let retry = 0; // timer
let pause = firstPause;
let paused = false;
let times = []; // arrival times of the frames of the last seconds
let updated = 0;
let arrived = 0; // time of the last frame; 0: none on this connection

// ---- token: from the address to this tab's memory ----

function takeToken() {
  const query = new URLSearchParams(location.search);
  const hash = new URLSearchParams(location.hash.slice(1));
  const token = query.get('token') ?? hash.get('token');
  if (token !== null) {
    sessionStorage.setItem('token ' + location.pathname, token);
    history.replaceState(null, '', location.pathname);
  }
}

function token() {
  return sessionStorage.getItem('token ' + location.pathname);
}

function query() {
  return token() === null ? '' : '?token=' + encodeURIComponent(token());
}

// ---- connection ----

function say(state, text) {
  const status = $('status');
  if (status.textContent !== text) {
    status.textContent = text;
  }
  status.dataset.state = state;
}

function connect() {
  clearTimeout(retry);
  if (socket !== null || paused || document.hidden) {
    return;
  }
  const url = new URL('ws' + query(), location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  const mine = socket = new WebSocket(url);
  mine.binaryType = 'arraybuffer';
  mine.onopen = () => {
    pause = firstPause;
    arrived = 0;
    updated = -Infinity; // report the first frame at once: it may be the last
    say('wait', 'Connected, waiting for a frame…');
    openRemote(query());
  };
  mine.onmessage = async (event) => {
    try {
      await show(event.data, () => socket === mine);
    } catch (error) {
      say('bad', 'This frame cannot be shown: ' + error.message);
    }
    if (mine.readyState === WebSocket.OPEN) {
      mine.send('next');
    }
  };
  mine.onclose = () => {
    if (socket === mine) {
      socket = null;
      explain();
    }
  };
}

function disconnect() {
  clearTimeout(retry);
  const old = socket;
  socket = null;
  old?.close();
}

// Finds out, with a request, why there is no connection: browsers do not report
// the status of a WebSocket.
async function explain() {
  let text = 'Disconnected: the pipeline has ended or cannot be reached.';
  let again = true;
  try {
    const response = await fetch('events' + query(), { method: 'HEAD' });
    if (response.status === 401) {
      text = token() === null ? 'A token is needed.' : 'The token is wrong.';
      again = false;
      ask();
    } else if (!response.ok) {
      text = response.status === 503 ? 'There are too many viewers.'
        : `The server refused the request (${response.status}).`;
    } else {
      text = 'Disconnected.';
    }
  } catch {
    // text is still the one set above
  }
  if (socket !== null || paused || document.hidden) {
    return;
  }
  if (again) {
    text += ` Trying again in ${Math.ceil(pause / 1000)} s.`;
    retry = setTimeout(connect, pause);
    pause = Math.min(pause * 1.7, longestPause);
  }
  say('bad', text);
}

function ask() {
  $('ask').hidden = false;
  $('token').focus();
}

// ---- frames ----

// Shows a message, unless the connection ended while the picture was decoded, or
// the picture is frozen.
async function show(message, isWanted) {
  const size = new DataView(message).getUint32(0, true);
  const record = JSON.parse(new TextDecoder().decode(
    new Uint8Array(message, 4, size)));
  const picture = await createImageBitmap(new Blob(
    [new Uint8Array(message, 4 + size)], { type: 'image/jpeg' }));
  if (!isWanted() || frozen) {
    picture.close();
    return;
  }
  shown?.picture.close();
  shown = { picture, record };
  if (canvas.width !== picture.width || canvas.height !== picture.height) {
    canvas.width = picture.width;
    canvas.height = picture.height;
  }
  draw();
  count(record);
  document.dispatchEvent(new CustomEvent('frame-shown', { detail: record }));
}

// Returns the number of canvas pixels per screen pixel.
function scale() {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  return width && height
    ? Math.max(canvas.width / width, canvas.height / height) : 1;
}

function draw() {
  if (shown !== null) {
    scene.draw(context, shown.picture, shown.record, layers,
      outlinesDrawn ? new Set([...hidden, 'table zone_outlines']) : hidden, scale());
  }
}

function count(record) {
  const now = arrived = performance.now();
  times.push(now);
  times = times.filter((time) => now - time < 2000);
  if (now - updated > 250) {
    updated = now;
    update(record, now);
  }
}

// Reports a video that stands still.
setInterval(() => {
  const silence = performance.now() - arrived;
  if (socket !== null && arrived > 0 && silence > stall) {
    say('wait', `No frame for ${Math.floor(silence / 1000)} s`);
    $('rate').textContent = $('delay').textContent = '–';
  }
}, 1000);

function update(record, now) {
  const rate = times.length > 1
    ? (times.length - 1) * 1000 / (now - times[0]) : 0;
  const delay = Date.now() - Date.parse(record.wallclock);
  const n = record.objects?.length ?? 0;
  say('live', 'Live');
  $('save').disabled = false;
  $('title').textContent = document.title = record.source ?? 'Video';
  $('frame').textContent = record.frame_num;
  $('rate').textContent = rate.toFixed(1);
  $('delay').textContent = Math.round(delay) + ' ms';
  $('size').textContent = record.resolution
    ? `${record.resolution.width} × ${record.resolution.height}` : '–';
  $('objects').textContent = n;
  canvas.setAttribute('aria-label', `Frame with ${n} objects`);
  updateLabels(record);
  if ($('details').open) {
    $('record').textContent = JSON.stringify(record, null, 2);
  }
}

// ---- switches ----

function addSwitch(parent, text, checked, color, changed) {
  const label = document.createElement('label');
  const input = document.createElement('input');
  const output = document.createElement('output');
  input.type = 'checkbox';
  input.checked = checked;
  input.addEventListener('change', () => {
    changed(input.checked);
    draw();
  });
  label.append(input);
  if (color) {
    const swatch = document.createElement('span');
    swatch.className = 'swatch';
    swatch.style.background = color;
    label.append(swatch);
  }
  label.append(text, output);
  parent.append(label);
  return output;
}

for (const [name, text] of Object.entries(layerNames)) {
  layers[name] = true;
  addSwitch($('layers'), text, true, null, (on) => { layers[name] = on; });
}

const labelCounts = new Map(); // key: output

function updateLabels(record) {
  const counts = new Map();
  const tracked = new Set(); // labels whose boxes have the colours of tracks
  for (const object of record.objects ?? []) {
    const key = 'label ' + labelOf(object);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (object.id !== undefined) {
      tracked.add(key);
    }
  }
  for (const table of tablesOf(record)) {
    counts.set('table ' + table.key, table.rows.length);
  }
  for (const key of counts.keys()) {
    if (!labelCounts.has(key) && labelCounts.size < 100) {
      const text = key.slice(6);
      labelCounts.set(key, addSwitch($('labels'), text || '(no label)', true,
        colorOf(text), (on) => on ? hidden.delete(key) : hidden.add(key)));
    }
  }
  for (const [key, output] of labelCounts) {
    output.textContent = counts.get(key) ?? 0;
    if (counts.has(key)) {
      output.parentElement.querySelector('.swatch').hidden = tracked.has(key);
    }
  }
  $('found').hidden = labelCounts.size === 0;
}

// ---- buttons ----

function setPaused(on) {
  paused = on;
  $('pause').setAttribute('aria-pressed', on);
  $('pause').textContent = on ? 'Continue' : 'Pause';
  if (on) {
    disconnect();
    say('wait', 'Paused');
    if (shown !== null) {
      holdFrame(shown.record);
    }
  } else {
    say('wait', 'Connecting…');
    connect();
  }
}

function save() {
  const { record } = shown;
  const source = (record.source ?? 'frame').replace(/[^\w.-]+/g, '_');
  const name = `${source}-${record.frame_num}`;
  const json = new Blob([JSON.stringify(record, null, 2) + '\n'],
    { type: 'application/json' });
  canvas.toBlob((blob) => download(blob, name + '.png'));
  download(json, name + '.json');
}

$('pause').addEventListener('click', () => setPaused(!paused));
$('save').addEventListener('click', save);
$('full').addEventListener('click', () => {
  if (document.fullscreenElement) {
    document.exitFullscreen();
  } else {
    document.querySelector('.stage').requestFullscreen?.();
  }
});
$('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem('token ' + location.pathname, $('token').value);
  $('ask').hidden = true;
  connect();
});
$('details').addEventListener('toggle', () => { updated = 0; });
addEventListener('resize', draw);
// Disconnects a page in the background, so that it costs nothing.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    disconnect();
    closeRemote();
  } else if (!paused) {
    pause = firstPause;
    connect();
  } else {
    openRemote(query());
  }
});

takeToken();
prepareDrawing(canvas, () => shown?.record);
preparePicks(canvas, () => shown?.record, (object) => layers.boxes
  && !hidden.has('label ' + labelOf(object)));
prepareRegions((text, changed) =>
  addSwitch($('layers'), text, true, null, changed).parentElement);
prepareZones();
prepareTeaching({ freeze: (on) => { frozen = on; }, isPaused: () => paused,
  picture: () => shown.picture, record: () => shown.record });
document.addEventListener('drawing-changed', () => {
  if (outlinesDrawn !== showsOutlines()) {
    outlinesDrawn = showsOutlines();
    draw();
  }
});
connect();
