/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times spectralpca on cubes in host memory and the lower bound of each: the
 * copy to the device for pinned cubes, a memcpy of the cube for pageable ones.
 * Prints a line of JSON for each. Needs a GPU; returns 77 without. */
#include "cuvcheck.h"
#include "cuvelements.h"

#include "cuv-upload.h"
#include "context/gstcuvcontext.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 1920, HEIGHT = 1080, BANDS = 31 };

#define SIZE ((gsize) WIDTH * HEIGHT * BANDS)
#define CAPS                                                                   \
  "video/x-spectral,format=U8,width=1920,height=1080,bands=31,"                \
  "interleave=%s,framerate=30/1"

typedef struct {
  GstHarness *h;
  GstBuffer *cube;
  CuvUpload *upload;
  CuvWait wait;
  const guint8 *data;
  guint8 *copy;
} Bench;

static void
analyse (gpointer data)
{
  Bench *self = data;

  gst_buffer_unref (
      gst_harness_push_and_pull (self->h, gst_buffer_ref (self->cube)));
}

static void
only_upload (gpointer data)
{
  Bench *self = data;

  if (cuv_upload_pinned (self->upload, self->data, SIZE, NULL) != 0
      || cuv_wait_stream (&self->wait, NULL) != 0)
    g_error ("%s", cuv_cuda_error ());
}

static void
only_copy (gpointer data)
{
  Bench *self = data;

  memcpy (self->copy, self->data, SIZE);
}

static gdouble
report (const gchar *what, void (*func) (gpointer), Bench *self)
{
  const gdouble us = cuv_check_time (func, self);

  cuv_check_report (us, (gdouble) WIDTH * HEIGHT, (gdouble) SIZE, "%s", what);
  return us;
}

static void
fill (GstBuffer *buffer)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) (i % BANDS * 5 + (i * 2654435761u >> 28));
  gst_buffer_unmap (buffer, &map);
}

/* Pinned cubes come from the pool that the element proposes. */
static void
bench (const gchar *interleave, gboolean pinned, CuvUpload *upload)
{
  g_autofree gchar *caps = g_strdup_printf (CAPS, interleave);
  g_autofree gchar *name = g_strdup_printf (
      "spectralpca, %s cube, %s", pinned ? "pinned" : "pageable", interleave);
  Bench self = { .h = gst_harness_new_parse (
                     "spectralpca basis=lagged ! capsfilter "
                     "caps=video/x-raw(memory:CUDAMemory),format=RGBA"),
    .upload = upload };
  gdouble all, least;
  GstMapInfo map;

  gst_harness_set_src_caps_str (self.h, caps);
  self.cube = pinned ? gst_harness_create_buffer (self.h, SIZE)
                     : gst_buffer_new_allocate (NULL, SIZE, NULL);
  fill (self.cube);
  if (gst_cuv_buffer_is_pinned (self.cube) != pinned)
    g_error ("the cube is %spinned", pinned ? "not " : "");
  gst_buffer_map (self.cube, &map, GST_MAP_READ);
  self.data = map.data;
  self.copy = g_malloc0 (SIZE);
  all = report (name, analyse, &self);
  least = pinned ? report ("copy to the device alone", only_upload, &self)
                 : report ("memcpy of the cube alone", only_copy, &self);
  printf ("{\"name\": \"%s\", \"share\": %.3f}\n", name, least / all);
  gst_buffer_unmap (self.cube, &map);
  gst_harness_teardown (self.h);
  gst_buffer_unref (self.cube);
  g_free (self.copy);
}

int
main (int argc, char **argv)
{
  GstCuvContext context = { 0 };
  GstElement *element;
  CuvUpload *upload;

  gst_init (&argc, &argv);
  if (!gst_cuv_cuda_usable ()) {
    g_print ("no CUDA device\n");
    return 77;
  }
  element = gst_object_ref_sink (gst_element_factory_make ("identity", NULL));
  gst_cuv_context_init (&context, element, NULL);
  if (!gst_cuv_context_open (&context) || !gst_cuv_context_push (&context))
    g_error ("no CUDA context");
  upload = cuv_upload_new ();
  if (upload == NULL || cuv_upload_reserve (upload, SIZE) == NULL)
    g_error ("%s", cuv_cuda_error ());
  for (guint i = 0; i < 4; i++)
    bench (i / 2 ? "bsq" : "bip", i % 2 == 0, upload);
  cuv_upload_free (upload);
  gst_cuv_context_pop (&context);
  gst_cuv_context_close (&context);
  gst_object_unref (element);
  return 0;
}
