/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures and samples in files: more files than a process may map, and a
 * disk without space for them. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include "cuvcheck.h"
#include "dataset/dataset.h"
#include "sample-memory.h"

enum {
  N_SMALL = 70000, /* a process has at most 65530 mappings */
  SIDE = 9,
  LARGE = 8200, /* width and height: more than the store maps at once */
};

/* Limits the size of files. */
static void
limit_files (rlim_t size)
{
  struct rlimit limit;

  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = size;
  setrlimit (RLIMIT_FSIZE, &limit);
}

/* ---- pictures ---- */

static gint64
add (CuvStore *store, gint side, guint8 grey, GError **error)
{
  const gsize n = (gsize) side * (gsize) side;
  guint8 *pixels = g_malloc (n);
  const CuvFrame frame = { .model = CUV_MODEL_GREY,
    .width = side,
    .height = side,
    .n_components = 1,
    .component = { { .data = pixels, .stride = side, .step = 1 } } };
  gint64 number;

  memset (pixels, grey, n);
  number = cuv_store_add (store, &frame, NULL, error);
  g_free (pixels);
  return number;
}

static gboolean
is_filled (const CuvFrame *frame, gint side, guint8 grey)
{
  const gsize n = (gsize) side * (gsize) side;
  const guint8 *pixels = frame->component[0].data;

  return frame->width == side && frame->height == side && pixels[0] == grey
      && memcmp (pixels, pixels + 1, n - 1) == 0;
}

CUV_CHECKS_CPU (check_pictures)
{
  CuvStore *store = cuv_store_new (g_get_tmp_dir (), NULL);
  CuvFrame first;
  gint n_wrong = 0;

  cuv_check_case ("pictures");
  CUV_CHECK (add (store, SIDE, 0, NULL) == 0);
  first = cuv_store_grey (store, 0);
  CUV_CHECK (add (store, LARGE, 77, NULL) == 1);
  for (gint i = 2; i < N_SMALL; i++)
    n_wrong += add (store, SIDE, (guint8) i, NULL) != i;
  CUV_CHECK (is_filled (&first, SIDE, 0));
  for (gint i = 0; i < N_SMALL; i++) {
    const CuvFrame frame = cuv_store_grey (store, i);

    n_wrong += i == 1 ? !is_filled (&frame, LARGE, 77)
                      : !is_filled (&frame, SIDE, (guint8) i);
  }
  CUV_CHECK (n_wrong == 0, ": %d of %d", n_wrong, N_SMALL);
  cuv_store_free (store);
}

/* Luma of YUV is not the grey of red, green and blue: both are kept. */
CUV_CHECKS_CPU (check_colours)
{
  CuvStore *store = cuv_store_new (g_get_tmp_dir (), NULL);
  guint8 grey[4] = { 9, 8, 7, 6 }, rgb[12];
  const CuvFrame frame = { .width = 2,
    .height = 2,
    .n_components = 1,
    .component = { { .data = grey, .stride = 2, .step = 1 } } };
  CuvFrame colours = {
    .model = CUV_MODEL_RGB, .width = 2, .height = 2, .n_components = 3
  };

  cuv_check_case ("pictures in colour");
  for (guint8 i = 0; i < 12; i++)
    rgb[i] = (guint8) (100 + i);
  for (gint i = 0; i < 3; i++)
    colours.component[i] =
        (CuvComponent){ .data = rgb + i, .stride = 6, .step = 3 };
  CUV_CHECK (cuv_store_add (store, &frame, &colours, NULL) == 0);
  CUV_CHECK (cuv_store_add (store, NULL, &colours, NULL) == 1);
  CUV_CHECK (cuv_store_add (store, &frame, NULL, NULL) == 2);
  for (gint i = 0; i < 3; i++) {
    const CuvFrame kept = cuv_store_grey (store, i);
    const CuvFrame in_colour = cuv_store_colours (store, i);

    CUV_CHECK (kept.n_components == (i == 1 ? 0 : 1));
    CUV_CHECK (in_colour.n_components == (i == 2 ? 0 : 3));
    for (gint k = 0; k < 4; k++) {
      CUV_CHECK (i == 1 || kept.component[0].data[k] == grey[k]);
      for (gint c = 0; c < 3; c++)
        CUV_CHECK (i == 2 || in_colour.component[c].data[k] == rgb[3 * k + c]);
    }
  }
  cuv_store_free (store);
}

CUV_CHECKS_CPU (check_no_space_for_pictures)
{
  CuvStore *store = cuv_store_new (g_get_tmp_dir (), NULL);
  GError *error = NULL;
  CuvFrame frame;

  cuv_check_case ("no space for pictures");
  limit_files (10000);
  CUV_CHECK (add (store, 90, 1, NULL) == 0);
  CUV_CHECK (add (store, 90, 2, &error) == -1);
  CUV_CHECK (error != NULL && strstr (error->message, "TMPDIR") != NULL);
  g_clear_error (&error);
  CUV_CHECK (add (store, 40, 3, NULL) == 1);
  limit_files (RLIM_INFINITY);
  frame = cuv_store_grey (store, 0);
  CUV_CHECK (is_filled (&frame, 90, 1));
  frame = cuv_store_grey (store, 1);
  CUV_CHECK (is_filled (&frame, 40, 3));
  cuv_store_free (store);
  CUV_CHECK (cuv_store_new ("/no/such/folder", &error) == NULL);
  CUV_CHECK (error != NULL);
  g_clear_error (&error);
}

/* ---- samples ---- */

static void
check_memory (const char *folder)
{
  CuvTrainMemory memory;

  cuv_check_case ("memory in %s", folder != NULL ? folder : "memory");
  cuv_train_memory_init (&memory, folder);
  for (size_t size = 1; size <= 10000000; size *= 10) {
    CUV_CHECK (cuv_train_memory_grow (&memory, size) && memory.size == size);
    memory.bytes[size - 1] = (uint8_t) (size / 3);
  }
  CUV_CHECK (cuv_train_memory_grow (&memory, 5) && memory.size == 10000000);
  for (size_t size = 1; size <= 10000000; size *= 10)
    CUV_CHECK (memory.bytes[size - 1] == (uint8_t) (size / 3));
  CUV_CHECK (!memory.is_full);
  cuv_train_memory_clear (&memory);
  CUV_CHECK (memory.size == 0 && memory.bytes == NULL);
}

CUV_CHECKS_CPU (check_memories)
{
  check_memory (NULL);
  check_memory (g_get_tmp_dir ());
}

CUV_CHECKS_CPU (check_no_space)
{
  CuvTrainMemory memory;

  cuv_check_case ("no space for samples");
  cuv_train_memory_init (&memory, g_get_tmp_dir ());
  limit_files (10000);
  CUV_CHECK (cuv_train_memory_grow (&memory, 10000));
  memory.bytes[9999] = 9;
  CUV_CHECK (!cuv_train_memory_grow (&memory, 10001));
  CUV_CHECK (memory.is_full && memory.size == 10000);
  CUV_CHECK (memory.bytes[9999] == 9);
  limit_files (RLIM_INFINITY);
  cuv_train_memory_clear (&memory);
  cuv_train_memory_init (&memory, "/no/such/folder");
  CUV_CHECK (!cuv_train_memory_grow (&memory, 1) && memory.is_full);
  cuv_train_memory_clear (&memory);
}
