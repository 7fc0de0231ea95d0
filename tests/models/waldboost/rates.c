/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Confidence intervals of counts, and rates of boxes. */
#include <math.h>
#include "cuvcheck.h"
#include "train/dataset/dataset.h"

/* Numbers of SciPy: Wilson's interval, t quantile, variance of a ratio of sums
 * by clusters (W. Cochran, Sampling Techniques, 6.4). */
static const struct {
  CuvCount counts[4];
  guint n;
  gdouble cluster;
  CuvShare expected;
} cases[] = {
  { { { 3, 10 }, { 5, 10 }, { 4, 10 }, { 8, 10 } }, 4, 1,
      { 0.5, 0.21674, 0.78326 } },
  /* pictures alike: as independent samples */
  { { { 5, 10 }, { 5, 10 }, { 5, 10 }, { 5, 10 } }, 4, 1,
      { 0.5, 0.27525, 0.72475 } },
  { { { 10, 10 }, { 0, 10 }, { 10, 10 }, { 10, 20 } }, 4, 1,
      { 0.6, 0.14798, 0.92834 } },
  /* no variance to estimate */
  { { { 8, 8 }, { 16, 16 } }, 2, 1, { 1, 0.12942, 1 } },
  { { { 8, 8 }, { 16, 16 } }, 2, 8, { 1, 0.01824, 1 } },
  { { { 0, 1000 }, { 0, 2000 }, { 0, 0 } }, 3, 10, { 0, 0, 0.34987 } },
  { { { 0, 0 } }, 1, 1, { 0, 0, 1 } },
};

static gboolean
near (gdouble a, gdouble b)
{
  return fabs (a - b) < 2e-4;
}

static void
check_share (guint i)
{
  const CuvShare share =
      cuv_share (cases[i].counts, cases[i].n, cases[i].cluster);
  const CuvShare *expected = &cases[i].expected;

  cuv_check_case ("share %u", i);
  CUV_CHECK (near (share.value, expected->value), ": %g", share.value);
  CUV_CHECK (near (share.low, expected->low), ": low %g", share.low);
  CUV_CHECK (near (share.high, expected->high), ": high %g", share.high);
}

/* ---- boxes ---- */

static void
add (GArray *boxes, const CuvDatasetPicture *picture, gdouble score)
{
  const CuvDatasetBox box = { picture, { 0, 0, 1, 1 }, score };

  g_array_append_val (boxes, box);
}

static void
check_rates (void)
{
  static const CuvTrainRate expected[] = {
    { .score = 9, .false_positives = 0.5, .recall.value = 0 },
    { .score = 5, .false_positives = 0.5, .recall.value = 1.0 / 3 },
    { .score = 3, .false_positives = 1, .recall.value = 2.0 / 3 }
  };
  const CuvDatasetPicture pictures[2] = { { .width = 1 }, { .width = 2 } };
  CuvDatasetFound found = { .n_pictures = 2,
    .objects = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox)),
    .mistakes = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox)) };
  GArray *rates;

  add (found.objects, &pictures[1], 5);
  add (found.objects, &pictures[0], 3);
  add (found.objects, &pictures[1], -INFINITY);
  add (found.mistakes, &pictures[0], 9);
  add (found.mistakes, &pictures[0], 3);
  rates = cuv_dataset_rates (&found);
  CUV_CHECK (rates->len == 3, ": %u rates", rates->len);
  for (guint i = 0; i < MIN (rates->len, 3); i++) {
    const CuvTrainRate *rate = &g_array_index (rates, CuvTrainRate, i);

    cuv_check_case ("rate %u", i);
    CUV_CHECK (rate->score == expected[i].score, ": %g", rate->score);
    CUV_CHECK (rate->false_positives == expected[i].false_positives);
    CUV_CHECK (near (rate->recall.value, expected[i].recall.value));
    CUV_CHECK (rate->recall.low <= rate->recall.value
        && rate->recall.value <= rate->recall.high);
  }
  CUV_CHECK (cuv_train_rate_at (rates, 0.7).score == 5);
  CUV_CHECK (cuv_train_rate_at (rates, 0.1).recall.value == 0);
  g_array_unref (rates);
  g_array_unref (found.objects);
  g_array_unref (found.mistakes);
}

static void
run (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_share (i);
  check_rates ();
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
