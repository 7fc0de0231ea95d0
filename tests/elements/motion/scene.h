/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionmotion in a harness, drawn scenes and what was found in them. */
#ifndef CUV_TEST_SCENE_H
#define CUV_TEST_SCENE_H

#include "gstcuvmeta.h"
#include "live.h"

#define WIDTH 160
#define HEIGHT 120
#define BACKGROUND 100 /* grey level of an empty scene */

typedef struct {
  gint x, y, width, height;
} Box;

CuvLive scene_new (
    const gchar *properties, const gchar *format, gint width, gint height);

/* Returns the next frame, all of one grey level. */
GstBuffer *scene_frame (CuvLive *self, guint8 grey);

/* Paints a box grey, or red, green and blue in a format with these. */
void scene_paint (GstBuffer *frame, Box box, guint8 grey);
void scene_paint_color (GstBuffer *frame, Box box, const guint8 *color);

/* Pushes the frame and returns what was found: a line for each object, "x,y
 * WIDTHxHEIGHT area AREA frames FRAMES"; "scene change" if that was found.
 * Fails the test unless objects and table agree, and nothing else is attached.
 */
gchar *scene_push (CuvLive *self, GstBuffer *frame);

/* The same, of the output. */
gchar *scene_text (GstBuffer *buffer);

/* Fails the test unless pushing the frame finds this. */
void scene_expect (CuvLive *self, GstBuffer *frame, const gchar *text);

/* scene_expect() with an empty scene, or with a box of this grey level. */
void scene_expect_empty (CuvLive *self);
void scene_expect_box (CuvLive *self, Box box, guint8 grey, const gchar *text);

/* Shows n empty scenes, in which nothing may be found. */
void scene_learn (CuvLive *self, guint n);

/* Returns the table of the buffer. */
GstCuvTable scene_table (GstBuffer *buffer);

#endif
