// SPDX-License-Identifier: LGPL-2.1-or-later
// The connection for controls: requests and their answers, and messages of the
// sink. docs/visionwebsink.md has the messages.

const again = 2000; // ms until a lost connection is opened again
const longest = 64 * 1024; // bytes of a message; the sink ends the connection of more

let socket = null;
let retry = 0; // timer
let query = ''; // with the token
let mayChange = false;
let lastId = 0;
const pending = new Map(); // by id: {resolve, reject}
const listeners = new Map(); // by the type of message: functions

// Calls a function with each message of this type, after functions that were
// added earlier. Type "state" comes from here, when the connection begins or
// ends or what it allows changes: {exists}, whether the sink has controls.
export function listen(type, handler) {
  listeners.set(type, [...listeners.get(type) ?? [], handler]);
}

export function isConnected() {
  return socket?.readyState === WebSocket.OPEN;
}

export function canChange() {
  return isConnected() && mayChange;
}

// Sends a request, and returns a promise of the answer "done". An Error has the
// reason why it was refused; its `ended` is true if the connection has ended.
export function request(message) {
  return new Promise((resolve, reject) => {
    if (!isConnected()) {
      reject(connectionEnded());
      return;
    }
    const id = ++lastId;
    const text = JSON.stringify({ ...message, id });
    if (new Blob([text]).size > longest) {
      reject(new Error('It is longer than 64 KiB.'));
      return;
    }
    pending.set(id, { resolve, reject });
    socket.send(text);
  });
}

function connectionEnded() {
  return Object.assign(new Error('The connection has ended.'), { ended: true });
}

function dispatch(message) {
  for (const handler of listeners.get(message.type) ?? []) {
    handler(message);
  }
}

function answerOf(id) {
  const answer = pending.get(id);
  pending.delete(id);
  return answer;
}

listen('access', ({ may_change: allowed }) => {
  mayChange = allowed;
  dispatch({ type: 'state', exists: true });
});
listen('done', (message) => answerOf(message.id)?.resolve(message));
// A message that could not be read has no id.
listen('refused', ({ id, reason }) => answerOf(id ?? pending.keys().next().value)
  ?.reject(new Error(reason)));

function connect() {
  const url = new URL('controls' + query, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  const mine = socket = new WebSocket(url);
  lastId = 0;
  mine.onmessage = (event) => dispatch(JSON.parse(event.data));
  mine.onclose = () => {
    if (socket === mine) {
      closeRemote();
      retry = setTimeout(() => openRemote(query), again);
    }
  };
}

// Connects if the sink has controls. token: the query of requests.
export async function openRemote(token) {
  clearTimeout(retry);
  query = token;
  if (socket !== null) {
    return;
  }
  try {
    const response = await fetch('controls.json' + query);
    const { controls } = response.ok ? await response.json() : {};
    if (controls && socket === null) {
      connect();
    } else if (!controls) {
      dispatch({ type: 'state', exists: false });
    }
  } catch {
    // the video's connection ends, too, and is opened again
  }
}

export function closeRemote() {
  clearTimeout(retry);
  const old = socket;
  socket = null;
  mayChange = false;
  old?.close();
  for (const { reject } of pending.values()) {
    reject(connectionEnded());
  }
  pending.clear();
  dispatch({ type: 'state', exists: true });
}
