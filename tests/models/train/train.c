/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the weak classifiers that are learnt from windows read from standard
 * input, positives first: a line for each with x, y, width, height, a, b, the
 * threshold and the leaves.
 *
 * usage: train FEATURE WIDTH HEIGHT POSITIVES SAMPLES ROUNDS FEATURES SEED
 *        ALPHA
 *
 * FEATURE: lbp, lrd or lrp; stumps: LBP of an OpenCV cascade. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "train.h"

static int
compare (const void *a, const void *b)
{
  const int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

  return (x > y) - (x < y);
}

static CuvFeature
feature_named (const char *name)
{
  if (strcmp (name, "lrd") == 0)
    return CUV_FEATURE_LRD;
  return strcmp (name, "lrp") == 0 ? CUV_FEATURE_LRP : CUV_FEATURE_LBP;
}

static void
read_samples (const CuvTrainFeatures *features, CuvTrainSet *set)
{
  const size_t size =
      (size_t) (features->window_width * features->window_height);
  uint8_t *codes = malloc ((size_t) features->n * set->pitch);
  uint8_t *pixels = malloc (size);

  for (int32_t i = 0; i < set->n; i++) {
    if (fread (pixels, 1, size, stdin) != size)
      abort ();
    cuv_train_codes (features, pixels, codes + i, set->pitch);
  }
  free (pixels);
  set->codes = codes;
}

/* Computes the rejection threshold from the sums of all samples. */
static int32_t
threshold_of (const CuvTrainSet *set, double alpha)
{
  int32_t *sums = malloc ((size_t) set->n * sizeof *sums), threshold;
  const int32_t n_negatives = set->n - set->n_positives;
  const CuvTrainLiving positives = { sums, set->n_positives, 1 };
  const CuvTrainLiving negatives = { sums + set->n_positives, n_negatives,
    0.75 };

  memcpy (sums, set->sums, (size_t) set->n * sizeof *sums);
  qsort (sums, (size_t) set->n_positives, sizeof *sums, compare);
  qsort (sums + set->n_positives, (size_t) n_negatives, sizeof *sums, compare);
  threshold = cuv_train_threshold (&positives, &negatives, alpha);
  free (sums);
  return threshold;
}

static void
print_round (const CuvTrainFeatures *features, const CuvTrainWeak *weak,
    int32_t threshold)
{
  const CuvGridNode *node = &features->nodes[weak->feature];

  printf ("%d %d %d %d %d %d %d", node->x, node->y, node->width, node->height,
      node->a, node->b, threshold);
  for (int code = 0; code < features->n_codes; code++)
    printf (" %d", weak->leaves[code]);
  printf ("\n");
}

int
main (int argc, char **argv)
{
  CuvTrainFeatures features;
  CuvTrainSet set = { 0 };
  int n_rounds;

  if (argc != 10)
    return 2;
  set.n_positives = atoi (argv[4]);
  set.n = atoi (argv[5]);
  n_rounds = atoi (argv[6]);
  set.pitch = (size_t) set.n;
  set.masses = malloc ((size_t) set.n * sizeof *set.masses);
  set.weights = malloc ((size_t) set.n * sizeof *set.weights);
  set.sums = malloc ((size_t) set.n * sizeof *set.sums);
  if (!cuv_train_features_init (&features, feature_named (argv[1]),
          atoi (argv[2]), atoi (argv[3]), atoi (argv[7]),
          strtoull (argv[8], NULL, 10)))
    return 1;
  features.cascade = strcmp (argv[1], "stumps") == 0;
  read_samples (&features, &set);
  cuv_train_begin (&set);
  for (int i = 0; i < n_rounds; i++) {
    CuvTrainWeak weak;

    cuv_train_round (&features, &set, &weak);
    print_round (&features, &weak, threshold_of (&set, atof (argv[9])));
  }
  free ((void *) set.codes);
  free (set.masses);
  free (set.weights);
  free (set.sums);
  cuv_train_features_clear (&features);
  return 0;
}
