/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs gst-launch pipelines, each in a process of its own: one that crashes or
 * hangs does not affect the others, and when the program dies, its pipelines
 * die with it. A line is the text of a pipeline. A map of this folder:
 *
 *   line-expand.c   fills the placeholders of a line: cuv_line_expand()
 *   line.c          in the program: starts a process, reads its reports
 *   line-run.c      in the process: plays the pipeline, writes reports
 *   line-private.h  the option by which line.c starts line-run.c
 *
 * cuvision-archive and cuvision-farm call it. The process is the same program,
 * started with --run-line: cuv_line_main() runs the pipeline there.
 *
 *   program -> process  stdin: the line, ended by a 0 byte; closed to end it
 *   process -> program  stdout: reports, a JSON object per line of text */
#ifndef CUV_LINE_H
#define CUV_LINE_H

#include <gio/gio.h>
#include <json-glib/json-glib.h>

/* Replaces each {name} in a line by its value; g_free() the result. Within the
 * value of a property, quoted or not, the element gets the value byte for byte;
 * values with quotes, backslashes or control characters work in properties of
 * type string only. {text} that is not a name remains: caps have lists in
 * braces. Returns NULL with an error if a value is not UTF-8, or if a value
 * with blanks or such characters is used outside a property. */
gchar *cuv_line_expand (const gchar *line, GHashTable *values, GError **error);

/* ---- in the program that starts pipelines ---- */

/* Call first in main(). In a process that cuv_line_start() started, it runs the
 * pipeline and exits. Otherwise it returns, with SIGPIPE ignored. */
void cuv_line_main (int argc, char **argv);

/* A process that runs a pipeline. */
typedef struct _CuvLine CuvLine;

/* Called with each report, a JSON object, of one of these kinds.
 *
 *   {"state": "playing"}
 * once the pipeline plays.
 *
 *   {"buffers": 17, "position": 0.68, "duration": 12.5, "dropped": 0,
 *    "unused": 0.6, "stats": {"faces": {...}}}
 * each interval and at the end. buffers: number that arrived at sinks; position
 * and duration: seconds, absent if unknown; dropped: late frames that elements
 * other than sinks dropped; unused: seconds up to which streams were read that
 * the pipeline does not use; stats: that property of each element that has it.
 *
 *   {"error": "text", "element": "faces", "debug": "text", "domain":
 *    "gst-resource-error-quark", "code": 3, "uri": "file:///video.avi"}
 * before the pipeline ends. If "element" is missing, the line could not be
 * parsed. uri: that of the element, if it is a source that has one.
 *
 *   {"warning": ...}   with the same members
 *   {"eos": true}      before the pipeline ends */
typedef void (*CuvLineReport) (gpointer data, JsonObject *report);

/* Called when the process has ended. problem: NULL after the end of the stream,
 * otherwise the error that the pipeline reported, with element and detail, or
 * how the process ended. self is freed when this returns. */
typedef void (*CuvLineDone) (gpointer data, const gchar *problem);

/* Starts a process for a line whose placeholders are filled. Both functions are
 * called in the thread-default main context of the caller. interval: time
 * between reports, in milliseconds. Returns NULL with an error if no process
 * can be started. */
CuvLine *cuv_line_start (const gchar *line, guint interval,
    CuvLineReport report, CuvLineDone done, gpointer data, GError **error);

/* Sends the end of the stream, so that elements complete their files; kills the
 * process if it still runs `grace` milliseconds later. */
void cuv_line_stop (CuvLine *self, guint grace);

/* Sets the time that elements get to close after the end of the stream or an
 * error, before the process is killed. In milliseconds; 0: no limit. The
 * default is 10 s. */
void cuv_line_set_clean_up (CuvLine *self, guint milliseconds);

/* Returns the process ID, for messages. */
const gchar *cuv_line_pid (const CuvLine *self);

/* Returns the signal that ended the process, or 0. Call only in CuvLineDone. */
int cuv_line_signal (const CuvLine *self);

#endif
