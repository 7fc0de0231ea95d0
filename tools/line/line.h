/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs gst-launch lines, each in a process of its own: a line that crashes or
 * hangs takes no other with it, and a process that is killed takes its lines
 * with it. */
#ifndef CUV_LINE_H
#define CUV_LINE_H

#include <gio/gio.h>
#include <json-glib/json-glib.h>

/* Replaces {name} in a line by the value of that name. The property that it is
 * assigned to, alone or within more text, also in quotes, gets the value byte
 * for byte, whatever it holds; only properties of text take values with quotes,
 * backslashes or control characters. Braces around other text are left alone:
 * caps have lists in braces. Fails if a value is not UTF-8, or has blanks or
 * such characters outside a property. */
gchar *cuv_line_expand (const gchar *line, GHashTable *values, GError **error);

/* ---- in the program that starts lines ---- */

/* Call first in main(): in a process that cuv_line_start() made it runs the
 * line and exits. Otherwise it returns, with SIGPIPE ignored. */
void cuv_line_main (int argc, char **argv);

/* A process that runs a line. */
typedef struct _CuvLine CuvLine;

/* What a line tells, as JSON objects:
 *   {"state": "playing"}                once it plays
 *   {"buffers": 17, "position": 0.68, "duration": 12.5,
 *    "dropped": 0, "unused": 0.6,
 *    "stats": {"faces": {...}}}         each interval and at the end: buffers
 *                                       that arrived at sinks, seconds (absent
 *                                       if unknown), late frames that elements
 *                                       other than sinks dropped, the time up
 * to which streams were read that the line does not use, the property `stats`
 * of each element that has one, by its name
 *   {"error": "text", "element": "faces", "debug": "text", "domain":
 *    "gst-resource-error-quark", "code": 3, "uri": "file:///film.avi"}
 *                                       the line ends after it; without an
 *                                       element it is about the line's text;
 *                                       uri: what the element reads, if it is a
 *                                       source that has one
 *   {"warning": ...}                    with the same members
 *   {"eos": true}                       the line ends after it */
typedef void (*CuvLineReport) (gpointer data, JsonObject *report);

/* The process has ended. problem: NULL at end of stream, else the error that
 * the line reported, with its element and detail, or how the process ended. The
 * line is freed after it. */
typedef void (*CuvLineDone) (gpointer data, const gchar *problem);

/* Starts a line with its placeholders already expanded. Both functions are
 * called in the thread-default main context of the caller. interval:
 * milliseconds. */
CuvLine *cuv_line_start (const gchar *line, guint interval,
    CuvLineReport report, CuvLineDone done, gpointer data, GError **error);

/* Ends the stream, so that files are complete; kills the process if it has not
 * ended `grace` milliseconds later. */
void cuv_line_stop (CuvLine *self, guint grace);

/* Time that elements have to close after the end of the stream or an error; the
 * process is killed then. In milliseconds; 0: no limit. By default 10 s. */
void cuv_line_set_clean_up (CuvLine *self, guint milliseconds);

/* Identifier of the process, for logs. */
const gchar *cuv_line_pid (const CuvLine *self);

/* The signal that ended the process, or 0; to be called when it has ended. */
int cuv_line_signal (const CuvLine *self);

#endif
