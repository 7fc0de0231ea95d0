/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-verify names the first frame and the first value that differ. */
#include "verify.h"

#include "cuvcheck.h"

static VerifyRun *
new_run (const gchar *const *frames, guint n)
{
  VerifyRun *self = g_new0 (VerifyRun, 1);

  self->frames = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (self->frames, g_strdup (frames[i]));
  return self;
}

#define FRAME "{\"record\":{\"a\":[1,{\"b\":2.0}],\"t\":\"x\"}}"

static const struct {
  const gchar *frame; /* on simd; on c it is FRAME */
  gdouble tolerance;
  const gchar *expected; /* what is reported, or NULL */
} cases[] = {
  { FRAME, 0, NULL },
  { "{\"record\":{\"a\":[1,{\"b\":2.5}],\"t\":\"y\"}}", 0,
      "frame 1: on simd record.a[1].b is 2.5, but 2.0 on c" },
  { "{\"record\":{\"a\":[1,{\"b\":2.0}],\"t\":\"y\"}}", 0,
      "frame 1: on simd record.t is \"y\", but \"x\" on c" },
  { "{\"record\":{\"a\":[1],\"t\":\"x\"}}", 0,
      "frame 1: on simd record.a[1] is none, but {\"b\":2.0} on c" },
  { "{\"record\":{\"a\":[1,{\"b\":2.0}],\"c\":0,\"t\":\"x\"}}", 0,
      "frame 1: on simd record.c is 0, but none on c" },
  { "{\"record\":{\"a\":[1,{\"b\":[]}],\"t\":\"x\"}}", 0,
      "frame 1: on simd record.a[1].b is [], but 2.0 on c" },
  { "{\"record\":{\"a\":[1,{\"b\":2.01}],\"t\":\"y\"}}", 0.01, NULL },
  { "{\"record\":{\"a\":[1,{\"b\":2.25}],\"t\":\"x\"}}", 0.01,
      "frame 1: on simd record.a[1].b is 2.25, but 2.0 on c" },
};

static void
compare_case (guint i)
{
  const gchar *first[] = { "{}", FRAME };
  const gchar *second[] = { "{}", cases[i].frame };
  VerifyRun *a = new_run (first, 2), *b = new_run (second, 2);
  gchar *text = verify_compare_runs (b, "simd", a, "c", cases[i].tolerance);

  cuv_check_case ("%s", cases[i].frame);
  CUV_CHECK (g_strcmp0 (text, cases[i].expected) == 0, ": %s", text);
  g_free (text);
  verify_run_free (a);
  verify_run_free (b);
}

CUV_CHECKS_CPU (check_values)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    compare_case (i);
}

CUV_CHECKS_CPU (check_numbers_of_frames)
{
  const gchar *frames[] = { "{}", "{}" };
  VerifyRun *a = new_run (frames, 1), *b = new_run (frames, 2);
  gchar *text = verify_compare_runs (a, "cuda", b, "c", 0);

  CUV_CHECK (g_strcmp0 (text, "1 frames on cuda, but 2 on c") == 0);
  g_free (text);
  verify_run_free (a);
  verify_run_free (b);
}
