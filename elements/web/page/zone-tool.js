// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws polygons and lines of visionzones on the picture, and changes them.

import { say } from './bar.js';
import { clamp, distance, frameSize, repaint, stepOf } from './draw.js';
import { changeText, drawnText } from './history.js';
import { areaOf, contains, distanceTo, middle, paintZones } from './zone-shapes.js';
import { addZone, coordinatesOf, insertPoint, isLine, moveZone, parseZones,
  pointsOf, removePoint, setPoint } from './zones-text.js';

const needsThree = 'A polygon needs three points; Delete zone removes all of it.';

export class ZoneTool {
  zone = -1; // number of the chosen zone
  point = -1; // of its chosen point
  stream = null; // only this one's zones are shown; null: all
  drawing = null; // {kind, points, undone, next} of a new zone
  grip = null; // {at, points} of what is dragged
  text = null; // that of `all`

  constructor(control) {
    this.control = control;
    this.read();
  }

  // Reads the text again if it has changed.
  read() {
    const text = drawnText(this.control);
    if (text !== this.text && this.grip === null) {
      this.text = text;
      this.all = parseZones(text);
      if (this.zone >= this.zones().length) {
        this.choose(-1);
      } else if (this.point >= 0
          && this.point >= coordinatesOf(this.chosenZone()).length) {
        this.choose(this.zone);
      }
    }
  }

  zones() {
    return this.all?.zones ?? [];
  }

  chosenZone() {
    return this.zones()[this.zone];
  }

  isShown({ stream }) {
    return this.stream === null || stream === undefined || stream === this.stream;
  }

  points(zone) {
    return pointsOf(this.all, zone, frameSize());
  }

  choose(zone, point = -1) {
    [this.zone, this.point] = [zone, point];
  }

  chosen() {
    return this.drawing || this.zone < 0 ? undefined
      : this.point < 0 ? `zone ${this.zone}` : `point ${this.zone} ${this.point}`;
  }

  commit(merge) {
    this.text = JSON.stringify(this.all);
    changeText(this.control, this.text, merge);
  }

  // ---- new zones ----

  begin(kind) {
    this.drawing = { kind, points: [], undone: [], next: null };
    this.choose(-1);
    repaint();
  }

  isComplete() {
    return this.drawing.points.length >= (this.drawing.kind === 'line' ? 2 : 3);
  }

  addPoint(at) {
    const { kind, points } = this.drawing;
    const isNear = (point, reach) => point && distance(point, at) <= reach;
    if (kind === 'polygon' && this.isComplete() && isNear(points[0], at.reach)) {
      this.finish();
    } else if (isNear(points.at(-1), at.reach / 2)) { // a double click
      this.finish();
    } else {
      points.push({ x: Math.round(at.x), y: Math.round(at.y) });
      this.drawing.undone = [];
      if (kind === 'line' && this.isComplete()) {
        this.finish();
      }
    }
  }

  finish() {
    if (this.isComplete()) {
      const { kind, points } = this.drawing;
      addZone(this.all, kind, points, this.stream, frameSize());
      this.drawing = null;
      this.choose(this.zones().length - 1);
      this.commit();
    }
  }

  // ---- changes ----

  remove() {
    this.zones().splice(this.zone, 1);
    this.choose(-1);
    this.commit();
  }

  removePoint() {
    if (removePoint(this.chosenZone(), this.point)) {
      this.point = Math.max(this.point - 1, 0);
      this.commit();
    } else {
      say(needsThree, 'bad');
    }
  }

  swap() {
    this.chosenZone().line.reverse();
    this.commit();
  }

  insert(edge) {
    const zone = this.chosenZone(), points = this.points(zone);
    insertPoint(this.all, zone, edge + 1, middle(points, edge), frameSize());
    this.point = edge + 1;
  }

  // change(zone) changes one; a property that is undefined is removed.
  edit(i, change) {
    change(this.zones()[i]);
    this.commit();
  }

  // ---- pointer ----

  // Returns what is at a place: {zone, point}, {zone, edge}, {zone}, or null.
  find(at) {
    const zone = this.chosenZone();
    if (zone && this.isShown(zone)) {
      const points = this.points(zone);
      const near = (list, most) => list.map((place, i) => [distance(place, at), i])
        .filter(([off]) => off <= most).sort(([a], [b]) => a - b)[0]?.[1];
      const point = near(points, at.reach);
      if (point !== undefined) {
        return { zone: this.zone, point };
      }
      const edge = isLine(zone) ? undefined
        : near(points.map((_, i) => middle(points, i)), at.reach * 0.7);
      if (edge !== undefined) {
        return { zone: this.zone, edge };
      }
    }
    const found = this.findZone(at);
    return found < 0 ? null : { zone: found };
  }

  // Prefers edges, those of the chosen zone above all; then the smallest zone.
  findZone(at) {
    const found = this.zones().flatMap((zone, i) => {
      const points = this.isShown(zone) ? this.points(zone) : [];
      const isClosed = !isLine(zone);
      const rank = distanceTo(points, at, isClosed) <= at.reach
        ? i === this.zone ? 3 : 2 : isClosed && contains(points, at) ? 1 : 0;
      return rank > 0 ? [{ i, rank, area: areaOf(points) }] : [];
    });
    return found.sort((a, b) => b.rank - a.rank || a.area - b.area)[0]?.i ?? -1;
  }

  cursor(at) {
    return this.drawing ? 'crosshair' : this.grip || this.find(at) ? 'move'
      : 'default';
  }

  press(at) {
    if (this.drawing) {
      this.drawing.from = this.drawing.next = at;
      return;
    }
    const found = this.find(at);
    if (this.all === null || found === null) {
      this.choose(-1);
      return;
    }
    this.choose(found.zone, found.point);
    this.grip = { at, ...found, points: this.points(this.chosenZone()) };
  }

  hover(at) {
    if (this.drawing) {
      this.drawing.next = at;
    }
  }

  drag(at) {
    this.hover(at);
    if (this.grip === null || (!this.grip.moved
        && distance(this.grip.at, at) < at.reach / 3)) {
      return;
    }
    this.grip.moved = true;
    if (this.grip.edge !== undefined) {
      this.insert(this.grip.edge);
      delete this.grip.edge;
      this.grip.points = this.points(this.chosenZone());
    }
    this.move(this.grip.points,
      { x: at.x - this.grip.at.x, y: at.y - this.grip.at.y });
  }

  move(points, step) {
    const zone = this.chosenZone(), frame = frameSize();
    if (this.point < 0) {
      moveZone(this.all, zone, points, step, frame);
    } else {
      const { x, y } = points[this.point];
      setPoint(this.all, zone, this.point, { x: clamp(x + step.x, frame.width),
        y: clamp(y + step.y, frame.height) }, frame);
    }
  }

  release(at) {
    if (this.drawing) {
      const { from, points, kind } = this.drawing;
      if (kind === 'line' && points.length === 0 && distance(from, at) > at.reach) {
        this.addPoint(from); // a line can be dragged
      }
      this.addPoint(at);
    } else if (this.grip !== null) {
      const { moved } = this.grip;
      this.grip = null;
      if (moved) {
        this.commit();
      }
    }
  }

  escape() {
    const busy = this.drawing !== null || this.grip !== null;
    this.drawing = this.grip = this.text = null;
    this.read();
    return busy;
  }

  // ---- keys ----

  focus(name) {
    const [kind, zone, point] = name.split(' ');
    const wanted = kind === 'point' ? Number(point) : -1;
    if (Number(zone) !== this.zone || wanted !== this.point) {
      this.choose(Number(zone), wanted);
      repaint();
    }
  }

  key(name, event) {
    const [kind, , at] = name.split(' ');
    const step = stepOf(event);
    if (this.all === null || !this.chosenZone()) {
      return false;
    }
    if (event.key === 'Delete' || event.key === 'Backspace') {
      kind === 'point' ? this.removePoint() : this.remove();
    } else if (kind === 'edge' && event.key === 'Enter') {
      this.insert(Number(at));
      this.commit();
    } else if (step !== null && kind !== 'edge') {
      this.move(this.points(this.chosenZone()), step);
      this.commit(name);
    } else {
      return false;
    }
    return true;
  }

  keyOnPicture({ key }) {
    if (key === 'Enter' && this.drawing) {
      this.finish();
      return true;
    }
    return false;
  }

  // ---- undo of points ----

  canUndo() {
    return Boolean(this.drawing?.points.length);
  }

  canRedo() {
    return Boolean(this.drawing?.undone.length);
  }

  undo() {
    if (this.canUndo()) {
      this.drawing.undone.push(this.drawing.points.pop());
    }
    return this.drawing !== null;
  }

  redo() {
    if (this.canRedo()) {
      this.drawing.points.push(this.drawing.undone.pop());
    }
    return this.drawing !== null;
  }

  // ---- what the bar and the picture show ----

  hint() {
    if (this.all === null) {
      return 'These zones cannot be read: edit them as text.';
    }
    if (this.drawing?.kind === 'line') {
      return 'Mark both ends of the line, or drag it.';
    }
    if (this.drawing) {
      return 'Mark the corners; mark the first one again to finish.';
    }
    return this.chosenZone()
      ? 'Drag the zone, its points, or the small points between them.'
      : 'Choose a zone on the picture, or draw a new one.';
  }

  actions() {
    const zone = this.chosenZone();
    if (this.all === null) {
      return [];
    }
    if (this.drawing) {
      return [{ text: 'Finish', title: 'Enter', disabled: !this.isComplete(),
        run: () => this.finish() }, { text: 'Cancel', title: 'Esc', run: () => {
        this.escape();
        repaint();
      } }];
    }
    const list = [{ text: 'New polygon', run: () => this.begin('polygon') },
      { text: 'New line', run: () => this.begin('line') }];
    if (zone && isLine(zone)) {
      list.push({ text: 'Swap in and out', run: () => this.swap() });
    }
    if (zone && !isLine(zone) && this.point >= 0) {
      list.push({ text: 'Remove point', title: 'Delete',
        run: () => this.removePoint() });
    }
    if (zone) {
      list.push({ text: 'Delete zone', run: () => this.remove() });
    }
    return list;
  }

  paint() {
    this.read();
    return paintZones(this);
  }
}
