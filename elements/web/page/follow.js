// SPDX-License-Identifier: LGPL-2.1-or-later
// Signals that take a rectangle: it can be drawn; set-target, that of a tracker,
// also takes the box of an object that is clicked.

import { say } from './bar.js';
import { findControls } from './controls.js';
import { drawBox } from './draw.js';
import { mayDraw, offerTool } from './offer.js';
import { onPick } from './pick.js';
import { labelOf } from './scene.js';

// Four whole numbers can be x, y, width and height of a rectangle.
function takesBox({ type, arguments: list }) {
  return type === 'signal' && list.map((one) => one.type).join()
    === 'integer,integer,integer,integer';
}

function tracker() {
  return findControls((description) =>
    takesBox(description) && description.name === 'set-target')[0];
}

offerTool(takesBox, ({ name }) => `Draw the box of ${name}`, (row) => {
  drawBox((box) => {
    if (box !== null) {
      row.call([box.x, box.y, box.width, box.height]);
    }
  }, row.description.control);
});

async function follow(object) {
  const row = tracker();
  const { element } = row.description;
  const [x, y] = [object.x, object.y].map(Math.round);
  const label = labelOf(object) || 'object';
  say(`Asking ${element} to follow this ${label}…`);
  const { value, reason } = await row.call([x, y,
    Math.round(object.x + object.w) - x, Math.round(object.y + object.h) - y]);
  if (reason !== undefined || value === 0) {
    say(`${element} does not follow this ${label}: `
      + (reason ?? 'it follows max-targets objects already.'), 'bad');
  } else if (value !== undefined) {
    say(`${element} follows this ${label} as target ${value}.`);
  }
}

onPick(follow, () => mayDraw() && tracker() !== undefined);
