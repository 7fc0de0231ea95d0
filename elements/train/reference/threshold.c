/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes rejection thresholds by Wald's sequential probability ratio test. */
#include "train.h"

/* Only sums of positives are candidates: between two of them, a higher
 * threshold only rejects more negatives. */
int32_t
cuv_train_threshold (const CuvTrainLiving *positives,
    const CuvTrainLiving *negatives, double alpha)
{
  int32_t found = CUV_TRAIN_NO_THRESHOLD, below = 0, i = 0;

  for (int32_t k = 0; k < positives->n; k++) {
    double rejected_positives, rejected_negatives;

    if (k > 0 && positives->sums[k] == positives->sums[k - 1])
      continue;
    while (i < negatives->n && negatives->sums[i] < positives->sums[k])
      i++;
    below = k;
    rejected_positives =
        1 - positives->alive + positives->alive * below / positives->n;
    rejected_negatives =
        1 - negatives->alive + negatives->alive * i / negatives->n;
    if (i > 0 && rejected_negatives * alpha > rejected_positives)
      found = positives->sums[k];
  }
  return found;
}
