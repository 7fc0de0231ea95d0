/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Confidence intervals of counts, rates of boxes, thresholds, the detector's
 * limit on boxes, how a video is divided into roles, and the choice of
 * features. */
#include <math.h>
#include <string.h>
#include "cuvcheck.h"
#include "dataset/dataset.h"

/* Values computed with SciPy: Wilson's interval, t quantile, variance of a
 * ratio of sums by clusters (W. Cochran, Sampling Techniques, 6.4). */
static const struct {
  CuvCount counts[4];
  guint n;
  gdouble cluster;
  CuvShare expected;
} cases[] = {
  { { { 3, 10 }, { 5, 10 }, { 4, 10 }, { 8, 10 } }, 4, 1,
      { 0.5, 0.21674, 0.78326 } },
  /* equal pictures: no more information than independent samples */
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

/* ---- thresholds ---- */

/* Falling scores of objects and mistakes, ended by 0. */
static const struct {
  gdouble objects[12], mistakes[26];
  gdouble least;
  guint n_pictures;
  gdouble false_positives, alpha, most_missed, expected;
} thresholds[] = {
  /* a limit of 2 + 3 / 2 ln (2 / 0.3) */
  { { 90, 36, 30 }, { 4, 3, 2 }, 0, 3, 0.1, 0.02, 0.5, 12.05696 },
  { { 90, 36, 30 }, { 4, 3, 2 }, 0, 3, 0.7, 0.02, 0.5, 7.74597 },
  { { 90, 36, 30 }, { 0 }, 0, 3, 0.1, 0.02, 0.5, 5.47723 },
  { { 90, 36, 25 }, { 4, 3 }, 0, 3, 5, 0.02, 0.5, 5 },
  /* lower scores are not known */
  { { 90, 36, 32 }, { 0 }, 8, 3, 0.1, 0.02, 0.5, 16 },
  /* one in ten may be lower */
  { { 99, 98, 97, 96, 95, 94, 93, 92, 36, 5 }, { 4 }, 0, 3, 0, 0.1, 0.5, 12 },
  /* objects and mistakes overlap */
  { { 90, 36, 30, 2 }, { 6, 5 }, 0, 3, 0.4, 0.02, 0.5, 5 },
  /* false positives determine the threshold, */
  { { 90, 36, 30 }, { 35 }, 0, 3, 0, 0.02, 0.5, 35 },
  /* but half of the objects must remain, */
  { { 90, 36, 30 }, { 60, 50 }, 0, 3, 0, 0.02, 0.5, 36 },
  /* unless that is not required */
  { { 90, 36, 30 }, { 60, 50 }, 0, 3, 0, 0.02, 1, 60 },
  { { 90, 36, 30 }, { 95, 50 }, 0, 3, 0, 0.02, 1, 95 },
  /* only the best 20 mistakes count, on average 10.5 of them above 5, .. */
  { { 90, 80, 70 },
      { 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,
          6, 5, 4, 3, 2, 1 },
      0, 3, 2, 0.02, 0.5, 35.14146 },
  /* .. unless more are allowed */
  { { 90, 80, 70 },
      { 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,
          6, 5, 4, 3, 2, 1 },
      0, 10, 2.1, 0.02, 0.5, 16.73320 },
};

static void
check_threshold (guint i)
{
  const CuvDatasetPicture picture = { 0 };
  CuvDatasetFound found = { .n_pictures = thresholds[i].n_pictures,
    .least = thresholds[i].least,
    .objects = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox)),
    .mistakes = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox)) };
  gdouble threshold;

  cuv_check_case ("threshold %u", i);
  for (guint k = 0; thresholds[i].objects[k] > 0; k++)
    add (found.objects, &picture, thresholds[i].objects[k]);
  for (guint k = 0; thresholds[i].mistakes[k] > 0; k++)
    add (found.mistakes, &picture, thresholds[i].mistakes[k]);
  threshold = cuv_dataset_threshold (&found, thresholds[i].false_positives,
      thresholds[i].alpha, thresholds[i].most_missed);
  CUV_CHECK (threshold <= thresholds[i].expected
          && threshold > thresholds[i].expected - 1e-3,
      ": %g", threshold);
  CUV_CHECK (threshold == floor (threshold * 4096) / 4096, ": no whole units");
  g_array_unref (found.objects);
  g_array_unref (found.mistakes);
}

/* ---- more hits than the detector lists ---- */

enum { N_WEAK = 3, SIDE = 700 }; /* 200 000 windows in a picture */

/* Makes a dataset of one picture of noise, all of whose windows pass. */
static CuvDataset *
make_noise (void)
{
  CuvDataset *dataset = cuv_dataset_new (g_get_tmp_dir (), NULL);
  guint8 *pixels = g_malloc (SIDE * SIDE);
  const CuvFrame frame = { CUV_MODEL_GREY, SIDE, SIDE, 1,
    { { pixels, SIDE, 1, 0, 0 } } };
  uint64_t random = 5;

  for (gint i = 0; i < SIDE * SIDE; i++)
    pixels[i] = (guint8) cuv_train_random (&random);
  g_ptr_array_add (dataset->roles[CUV_DATASET_TEST],
      cuv_dataset_add (dataset, "", &frame, NULL, NULL));
  g_free (pixels);
  return dataset;
}

static CuvDatasetFound *
find (const CuvDataset *dataset, const CuvGridClassifier *classifier)
{
  const CuvSampleOptions options = { .n_copies = 1 };
  const CuvWaldboostModel *model = cuv_model_new (classifier);
  CuvDatasetFound *found = cuv_dataset_find (
      dataset, CUV_DATASET_TEST, model, &options, CUV_DATASET_NMS);

  cuv_model_unref (model);
  return found;
}

/* Checks that the false positives are those of a classifier with that
 * threshold. */
static void
check_overflow (gboolean cascade)
{
  const CuvGridNode nodes[N_WEAK] = { { .width = 1, .height = 1 },
    { .width = 2, .height = 1 }, { .width = 1, .height = 2 } };
  const gfloat none[N_WEAK] = { -INFINITY, -INFINITY, -INFINITY };
  gfloat leaves[N_WEAK * 256];
  CuvGridClassifier classifier = { CUV_FEATURE_LBP, cascade, 8, 8, N_WEAK, 256,
    nodes, leaves, none, -8 };
  CuvDataset *dataset = make_noise ();
  CuvDatasetFound *found, *expected;

  cuv_check_case (cascade ? "overflow of a cascade" : "overflow");
  for (gint i = 0; i < N_WEAK * 256; i++)
    leaves[i] = cascade ? (gfloat) (i / 256 + 1) * (i % 2 == 0 ? 0.5f : -0.25f)
                        : (gfloat) ((i * 37) % 101) / 128;
  found = find (dataset, &classifier);
  classifier.final_threshold += (gfloat) found->least;
  expected = find (dataset, &classifier);
  CUV_CHECK (found->n_overflows == 1 && found->least > 0);
  CUV_CHECK (expected->n_overflows == 0 && expected->least == 0);
  CUV_CHECK (found->mistakes->len > 10);
  CUV_CHECK (found->mistakes->len == expected->mistakes->len, ": %u, not %u",
      found->mistakes->len, expected->mistakes->len);
  for (guint i = 0; i < MIN (found->mistakes->len, expected->mistakes->len);
       i++)
    CUV_CHECK (near (g_array_index (found->mistakes, CuvDatasetBox, i).score,
        found->least
            + g_array_index (expected->mistakes, CuvDatasetBox, i).score));
  cuv_dataset_found_free (found);
  cuv_dataset_found_free (expected);
  cuv_dataset_free (dataset);
}

/* ---- roles ---- */

/* Returns the roles of n frames with an object, in order. There is a frame
 * without an object for every four of them. */
static GString *
divide (guint n)
{
  static const gchar names[] = "LCT";
  CuvDataset *dataset = cuv_dataset_new (g_get_tmp_dir (), NULL);
  guint8 grey = 0;
  const CuvFrame frame = { CUV_MODEL_GREY, 1, 1, 1, { { &grey, 1, 1, 0, 0 } } };
  const CuvTrainBox box = { 0, 0, 1, 1 };
  GString *roles = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    CuvDatasetPicture *picture =
        cuv_dataset_add (dataset, "", &frame, NULL, NULL);

    g_array_append_val (picture->objects, box);
    if (i % 4 == 0)
      cuv_dataset_add (dataset, "", &frame, NULL, NULL);
  }
  cuv_dataset_divide_in_time (dataset, FALSE);
  /* again, as when more frames come */
  cuv_dataset_divide_in_time (dataset, FALSE);
  for (guint i = 0; i < dataset->pictures->len; i++) {
    gpointer picture = dataset->pictures->pdata[i];

    for (guint r = 0; r < CUV_DATASET_N_ROLES; r++) {
      if (((CuvDatasetPicture *) picture)->objects->len > 0
          && g_ptr_array_find (dataset->roles[r], picture, NULL))
        g_string_append_c (roles, names[r]);
    }
  }
  CUV_CHECK (
      dataset->roles[0]->len + dataset->roles[1]->len + dataset->roles[2]->len
          == dataset->pictures->len,
      ": each picture has one role");
  cuv_dataset_free (dataset);
  return roles;
}

/* Checks that the roles of n frames alternate in blocks, each role n_turns
 * times. */
static void
check_blocks (guint n, guint n_turns)
{
  GString *roles;
  guint n_changes = 0;

  cuv_check_case ("blocks of %u", n);
  roles = divide (n);
  for (guint i = 1; i < roles->len; i++)
    n_changes += roles->str[i] != roles->str[i - 1];
  CUV_CHECK (n_changes == 3 * n_turns - 1, ": %s", roles->str);
  g_string_free (roles, TRUE);
}

static void
check_roles (guint n, const gchar *expected)
{
  GString *roles;

  cuv_check_case ("roles of %u", n);
  roles = divide (n);
  CUV_CHECK (g_str_has_prefix (roles->str, expected), ": %.400s", roles->str);
  CUV_CHECK (roles->len == n, ": %u roles", (guint) roles->len);
  g_string_free (roles, TRUE);
}

/* ---- patterns or channels ---- */

typedef struct {
  gdouble false_positives, recall;
} Point;

/* Curves of patterns and of channels, until a recall of 0. */
static const struct {
  Point curves[2][4];
  guint n_objects;
  gdouble asked;
  gboolean prefers_channels, channels;
  const gchar *why;
} choices[] = {
  { { { { 0, .5 }, { 1, .8 } }, { { 0, .1 }, { 1, .9 } } }, 10, 1, FALSE, TRUE,
      "took b: recall 0.900 instead of 0.800 at 1 false positives per "
      "picture" },
  { { { { 0, .5 }, { 1, .8 } }, { { 0, .1 }, { 1, .7 }, { 1.1, 1 } } }, 10, 1,
      TRUE, FALSE, "took a: recall 0.800 instead of 0.700" },
  { { { { 0, .5 }, { 1, .8 } }, { { 0, .1 }, { 1, .7 }, { 1.1, 1 } } }, 10,
      INFINITY, FALSE, TRUE, "at any number of false positives" },
  /* the means 0.5 and 0.7 differ by more than one of 6 objects, less than one
     of 4 */
  { { { { 0, .4 }, { 0.5, .6 }, { 1, 1 } }, { { 0, .4 }, { 0.5, 1 } } }, 6, 1,
      FALSE, TRUE,
      "took b: the same recall at 1 false positives per picture, but a higher "
      "mean recall up to there (0.700 instead of 0.500)" },
  { { { { 0, .4 }, { 0.5, .6 }, { 1, 1 } }, { { 0, .4 }, { 0.5, 1 } } }, 4, 1,
      FALSE, FALSE, "took a: b does not find more" },
  { { { { 0, .4 }, { 0.5, 1 } }, { { 0, .4 }, { 0.5, .6 }, { 1, 1 } } }, 6, 1,
      TRUE, FALSE, "took a: the same recall" },
  { { { { 0, .4 }, { 0.5, 1 } }, { { 0, .4 }, { 0.5, .6 }, { 1, 1 } } }, 4, 1,
      TRUE, TRUE, "took b: a does not find more" },
  { { { { 0, .4 }, { 0.5, 1 } }, { { 0, .4 }, { 0.5, .6 }, { 1, 1 } } }, 6, 0,
      TRUE, TRUE, "took b: a does not find more" },
  { { { { 0, 0 } }, { { 0, 0 } } }, 0, 1, FALSE, FALSE, "took a: b does not" },
};

static GArray *
curve_of (const Point *points)
{
  GArray *rates = g_array_new (FALSE, FALSE, sizeof (CuvTrainRate));

  for (guint i = 0; points[i].recall > 0; i++) {
    const CuvTrainRate rate = { 0, points[i].false_positives,
      { points[i].recall, 0, 1 } };

    g_array_append_val (rates, rate);
  }
  return rates;
}

static void
check_choice (guint i)
{
  GArray *rates[] = { curve_of (choices[i].curves[0]),
    curve_of (choices[i].curves[1]) };
  const CuvFeaturesFound a = { "a", rates[0], choices[i].n_objects };
  const CuvFeaturesFound b = { "b", rates[1], choices[i].n_objects };
  gchar *why = NULL;

  cuv_check_case ("choice %u", i);
  CUV_CHECK (cuv_features_choose (
                 &a, &b, choices[i].asked, choices[i].prefers_channels, &why)
      == choices[i].channels);
  CUV_CHECK (strstr (why, choices[i].why) != NULL, ": %s", why);
  g_free (why);
  g_array_unref (rates[0]);
  g_array_unref (rates[1]);
}

CUV_CHECKS (check_cases)
{
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    check_choice (i);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_share (i);
  check_rates ();
  for (guint i = 0; i < G_N_ELEMENTS (thresholds); i++)
    check_threshold (i);
  check_overflow (FALSE);
  check_overflow (TRUE);
  check_roles (7, "LLLLLCT");
  check_roles (16, "LLLLLLLLLLLLCCTT");
  check_blocks (349, 1);
  check_blocks (350, 2);
}
