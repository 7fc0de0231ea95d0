/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learning of trees on channels: each split and leaf against a search of all
 * features and thresholds, sample by sample; classes that only a tree can
 * separate; the limit of what rejection may miss; trees learnt on the GPU
 * against those of the CPU. */
#include "cuvcheck.h"
#include "cuvhooks.h"
#include "backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a set ---- */

typedef struct {
  CuvTrainSet set;
  uint8_t *codes;
  int32_t n_features;
} Problem;

/* Makes few samples of coarse bytes, so that splits often tie. */
static Problem
problem_new (int32_t n, int32_t n_positives, int32_t n_features)
{
  const size_t size = (size_t) n;
  const uint32_t n_codes = cuv_check_below (2) ? 256 : 5;
  Problem self = { { .n = n,
                       .n_positives = n_positives,
                       .pitch = size,
                       .masses = malloc (size * sizeof (double)),
                       .weights = malloc (size * sizeof (uint32_t)),
                       .sums = malloc (size * sizeof (int32_t)) },
    malloc (size * (size_t) n_features), n_features };

  for (size_t i = 0; i < size * (size_t) n_features; i++)
    self.codes[i] = (uint8_t) (cuv_check_below (n_codes)
        + (i % size < (size_t) n_positives && cuv_check_below (3) == 0));
  self.set.codes = self.codes;
  cuv_train_begin (&self.set);
  for (int32_t i = 0; i < n; i++)
    if (cuv_check_below (9) == 0)
      self.set.masses[i] = 0;
  cuv_train_weigh (&self.set);
  return self;
}

static void
problem_free (Problem *self)
{
  free (self->codes);
  free (self->set.masses);
  free (self->set.weights);
  free (self->set.sums);
}

static int
code_of (const CuvTrainSet *set, int32_t feature, int32_t sample)
{
  return set->codes[(size_t) feature * set->pitch + (size_t) sample];
}

/* ---- the search ---- */

/* Returns the node at level `depth` that a sample reaches. */
static int
node_of (
    const CuvTrainSet *set, const CuvTrainTree *tree, int32_t sample, int depth)
{
  int at = 0;

  for (int level = 0; level < depth; level++)
    at = 2 * at + 1
        + (code_of (set, tree->feature[at], sample) >= tree->threshold[at]);
  return at;
}

static double
loss_of (const CuvTrainSet *set, const CuvTrainTree *tree, int node, int depth,
    int32_t feature, int threshold)
{
  uint64_t weights[2][2] = { { 0 } }; /* by side and class */

  for (int32_t i = 0; i < set->n; i++)
    if (node_of (set, tree, i, depth) == node)
      weights[code_of (set, feature, i) >= threshold][i < set->n_positives] +=
          set->weights[i];
  return sqrt ((double) weights[0][0] * (double) weights[0][1])
      + sqrt ((double) weights[1][0] * (double) weights[1][1]);
}

static void
check_node (const CuvTrainSet *set, const CuvTrainTree *tree, int node,
    int depth, const int32_t *features, int n_features)
{
  double least = INFINITY;
  int32_t feature = -1;
  int threshold = -1;

  for (int i = 0; i < n_features; i++) {
    for (int t = 1; t < 256; t++) {
      const double loss = loss_of (set, tree, node, depth, features[i], t);

      if (loss < least) {
        least = loss;
        feature = features[i];
        threshold = t;
      }
    }
  }
  CUV_CHECK (
      tree->feature[node] == feature && tree->threshold[node] == threshold,
      ": node %d: feature %d, threshold %d, not %d, %d", node,
      tree->feature[node], tree->threshold[node], feature, threshold);
}

static void
check_leaf (const CuvTrainSet *set, const CuvTrainTree *tree, int leaf,
    int depth, double total)
{
  const double e = 0.5 / set->n_alive;
  double weights[2] = { 0 };
  double wanted;

  for (int32_t i = 0; i < set->n; i++)
    if (node_of (set, tree, i, depth) == leaf + (1 << depth) - 1)
      weights[i < set->n_positives] += set->weights[i];
  wanted = 128 * log ((weights[1] / total + e) / (weights[0] / total + e));
  CUV_CHECK (fabs (tree->leaves[leaf] - wanted) < 0.501,
      ": leaf %d: %d, not %g", leaf, tree->leaves[leaf], wanted);
}

/* Checks that a known tree changes the set as the learnt one did. masses: those
 * before the tree. */
static void
check_again (
    CuvTrainSet *set, const double *masses, int depth, const CuvTrainTree *tree)
{
  const size_t size = (size_t) set->n * sizeof *masses;
  double *after = malloc (size);
  CuvTrainTree known = *tree;

  memcpy (after, set->masses, size);
  memcpy (set->masses, masses, size);
  memset (known.leaves, 0, sizeof known.leaves);
  CUV_CHECK (cuv_train_tree_again (set, depth, &known));
  CUV_CHECK (memcmp (&known, tree, sizeof known) == 0);
  CUV_CHECK (memcmp (after, set->masses, size) == 0);
  free (after);
}

static void
check_tree (int depth)
{
  const int32_t n = 20 + (int32_t) cuv_check_below (60);
  Problem self = problem_new (n, 5 + (int32_t) cuv_check_below (10), 6);
  const int32_t features[] = { 4, 0, 5, 2 };
  double *masses = malloc ((size_t) n * sizeof *masses), total = 0;
  CuvTrainTree tree, again;
  int wrong = 0;

  cuv_check_case ("trees: %d samples, depth %d", n, depth);
  memcpy (masses, self.set.masses, (size_t) n * sizeof *masses);
  CUV_CHECK (cuv_train_tree (&self.set, features, 4, depth, 1, &tree));
  for (int node = 0, level = 0; node < (1 << depth) - 1; node++) {
    level += node == (2 << level) - 1;
    check_node (&self.set, &tree, node, level, features, 4);
  }
  for (int32_t i = 0; i < n; i++)
    total += self.set.weights[i];
  for (int leaf = 0; leaf < 1 << depth; leaf++)
    check_leaf (&self.set, &tree, leaf, depth, total);
  for (int32_t i = 0; i < n; i++) {
    const int at = node_of (&self.set, &tree, i, depth);
    const int leaf = tree.leaves[at - ((1 << depth) - 1)];
    const double factor =
        exp ((i < self.set.n_positives ? -leaf : leaf) / 256.);

    wrong += masses[i] > 0 ? self.set.sums[i] != leaf
            || fabs (self.set.masses[i] / masses[i] / factor - 1) > 1e-12
                           : self.set.sums[i] != 0 || self.set.masses[i] > 0;
  }
  CUV_CHECK (wrong == 0, ": %d samples", wrong);
  memcpy (self.set.masses, masses, (size_t) n * sizeof *masses);
  CUV_CHECK (cuv_train_tree (&self.set, features, 4, depth, 4, &again));
  CUV_CHECK (memcmp (&tree, &again, sizeof tree) == 0);
  check_again (&self.set, masses, depth, &tree);
  free (masses);
  problem_free (&self);
}

/* ---- a classifier ---- */

enum { N = 1200, FEATURES = 12, TREES = 60 };

static uint8_t
random_side (bool high)
{
  return (uint8_t) (cuv_check_below (128) + (high ? 128 : 0));
}

/* Fills samples: feature 3 says which of features 7 and 9 is high in positives
 * and low in negatives; the other features are random. */
static void
fill (uint8_t values[N][FEATURES])
{
  for (int i = 0; i < N; i++) {
    const bool second = cuv_check_below (2);

    for (int f = 0; f < FEATURES; f++)
      values[i][f] = (uint8_t) cuv_check_below (256);
    values[i][3] = random_side (second);
    values[i][second ? 9 : 7] = random_side (i < N / 2);
  }
}

/* Known trees, of which the first n_known are recalled, and the number of trees
 * that were recalled or learnt. */
typedef struct {
  const CuvTrainTree *trees;
  int n_known, n, n_learnt, stop_after;
} Watched;

static bool
recall (void *data, CuvTrainTree *tree)
{
  Watched *self = data;

  if (self->n >= self->n_known)
    return false;
  *tree = self->trees[self->n++];
  memset (tree->leaves, 0, sizeof tree->leaves);
  return true;
}

static void
learnt (void *data, const CuvTrainTree *tree)
{
  Watched *self = data;

  CUV_CHECK (memcmp (tree, &self->trees[self->n], sizeof *tree) == 0,
      ": tree %d", self->n);
  self->n++;
  self->n_learnt++;
}

static bool
is_stopped (void *data)
{
  const Watched *self = data;

  return self->n >= self->stop_after;
}

/* Checks that training that recalls its first trees ends as training that
 * learnt all of them. */
static void
check_recalled (const CuvTrainSamples samples[2],
    const CuvTrainTreesParams *params, const CuvTrainTree *trees,
    const int32_t *thresholds, int32_t final)
{
  Watched watched = { trees, 1 + (int) cuv_check_below (TREES - 1), 0, 0,
    TREES + 1 };
  const CuvTrainWatch watch = { &watched, is_stopped, recall, learnt, NULL };
  CuvTrainTreesParams more = *params;
  CuvTrainTree again[TREES];
  int32_t same[TREES], same_final;

  more.watch = &watch;
  CUV_CHECK (cuv_train_trees (
      &samples[0], &samples[1], &more, again, same, &same_final));
  CUV_CHECK (watched.n_learnt == TREES - watched.n_known && watched.n == TREES);
  CUV_CHECK (memcmp (trees, again, sizeof again) == 0
      && memcmp (thresholds, same, sizeof same) == 0 && final == same_final);
  watched = (Watched){ trees, 0, 0, 0, 3 };
  CUV_CHECK (!cuv_train_trees (
      &samples[0], &samples[1], &more, again, same, &same_final));
  CUV_CHECK (watched.n == 3, ": %d", watched.n);
}

static void
check_classifier (int depth)
{
  static uint8_t values[2][N][FEATURES];
  CuvTrainSamples samples[2];
  CuvProcessor processor = { .n_threads = 2 };
  CuvTrainTreesParams params = { depth, TREES, 0.7, 0.02, cuv_check_random (),
    &processor, NULL };
  CuvTrainTree trees[TREES], again[TREES];
  int32_t thresholds[TREES], same[TREES], final, same_final;
  int missed = 0, accepted = 0;

  cuv_check_case ("trees: a feature that selects another, depth %d", depth);
  for (int part = 0; part < 2; part++) {
    fill (values[part]);
    samples[part] = (CuvTrainSamples){ N, N / 2, FEATURES, values[part][0] };
  }
  CUV_CHECK (cuv_train_trees (
      &samples[0], &samples[1], &params, trees, thresholds, &final));
  for (int i = 0; i < N; i++) {
    int32_t sum = 0;
    bool alive = true;

    for (int k = 0; k < TREES && alive; k++) {
      sum += cuv_train_tree_leaf (&trees[k], depth, values[1][i]);
      alive = sum >= thresholds[k];
    }
    alive = alive && sum > final;
    missed += i < N / 2 && !alive;
    accepted += i >= N / 2 && alive;
  }
  CUV_CHECK (missed <= 2 * 0.02 * N / 2, ": %d missed", missed);
  /* sums of trees of depth 1 cannot select */
  CUV_CHECK (depth == 1 ? accepted > N / 8 : accepted <= N / 20,
      ": %d accepted", accepted);
  processor.n_threads = 1;
  CUV_CHECK (cuv_train_trees (
      &samples[0], &samples[1], &params, again, same, &same_final));
  CUV_CHECK (memcmp (trees, again, sizeof trees) == 0
      && memcmp (thresholds, same, sizeof same) == 0 && final == same_final);
  check_recalled (samples, &params, trees, thresholds, final);
}

CUV_CHECKS_CPU (check_train_trees)
{
  for (int depth = 1; depth <= CUV_CHANNELS_MAX_DEPTH; depth++) {
    check_tree (depth);
    check_tree (depth);
    check_classifier (depth);
  }
}

/* ---- the GPU ---- */

static CuvTrainSet
copy_set (const CuvTrainSet *set)
{
  const size_t n = (size_t) set->n;
  CuvTrainSet copy = *set;

  copy.masses = malloc (n * sizeof *copy.masses);
  copy.weights = malloc (n * sizeof *copy.weights);
  copy.sums = malloc (n * sizeof *copy.sums);
  memcpy (copy.masses, set->masses, n * sizeof *copy.masses);
  memcpy (copy.sums, set->sums, n * sizeof *copy.sums);
  return copy;
}

/* Features in random order, so that ties are decided by the order. */
static void
shuffle (int32_t *features, int32_t n)
{
  for (int32_t i = 0; i < n; i++) {
    const int32_t other = (int32_t) cuv_check_below ((uint32_t) i + 1);

    features[i] = features[other];
    features[other] = i;
  }
}

/* Learns trees one after another from two equal sets. */
static void
check_device_trees (CuvTrainSet *set, int32_t n_features, int depth)
{
  const CuvProcessor processor = { .on_device = true };
  const size_t size = (size_t) set->n * sizeof *set->masses;
  int32_t *features = malloc ((size_t) n_features * sizeof *features);
  CuvTrainSet other = copy_set (set);
  CuvBackend backend = { 0 };
  const char *problem =
      cuv_train_trees_open (&backend, &other, n_features, &processor);

  CUV_CHECK (problem == NULL, ": %s", problem);
  for (int i = 0; i < 6 && problem == NULL; i++) {
    const int32_t n_drawn =
        1 + (int32_t) cuv_check_below ((uint32_t) n_features);
    CuvTrainTree wanted, tree;

    shuffle (features, n_features);
    cuv_train_weigh (set);
    cuv_train_weigh (&other);
    CUV_CHECK (cuv_train_tree (set, features, n_drawn, depth, 2, &wanted));
    problem = cuv_train_trees_learn (
        &backend, &other, features, n_drawn, depth, &tree, &processor);
    CUV_CHECK (problem == NULL, ": %s", problem);
    CUV_CHECK (memcmp (&tree, &wanted, sizeof tree) == 0,
        ": tree %d of %d features: feature %d, threshold %d, not %d, %d", i,
        n_drawn, tree.feature[0], tree.threshold[0], wanted.feature[0],
        wanted.threshold[0]);
    CUV_CHECK (memcmp (set->masses, other.masses, size) == 0);
  }
  cuv_backend_close (&backend);
  free (features);
  free (other.masses);
  free (other.weights);
  free (other.sums);
}

static void
check_device_set (int32_t n, int32_t n_features, int depth)
{
  const int32_t n_positives = 1 + (int32_t) cuv_check_below ((uint32_t) n - 1);
  Problem self = problem_new (n, n_positives, n_features);

  cuv_check_case ("trees: CUDA, %d samples, %d positives, %d features, depth "
                  "%d",
      n, n_positives, n_features, depth);
  for (int32_t i = 0; i < n; i++)
    self.set.masses[i] = ldexp (self.set.masses[i], (int) cuv_check_below (24));
  check_device_trees (&self.set, n_features, depth);
  problem_free (&self);
}

/* More samples than the GPU sums at once: 32 bits would not hold the sums of
 * the upper halves of their weights. */
static void
check_many_samples (void)
{
  const int32_t n = 1200001, n_features = 6;
  Problem self = problem_new (n, n / 2, n_features);
  uint8_t *code = self.codes;

  cuv_check_case ("trees: CUDA, %d samples", n);
  for (int32_t f = 0; f < n_features; f++) {
    const uint32_t shares[] = { cuv_check_below (100), cuv_check_below (100) };

    for (int32_t i = 0; i < n; i++)
      *code++ = cuv_check_below (100) < shares[i < n / 2];
  }
  cuv_train_begin (&self.set);
  check_device_trees (&self.set, n_features, 2);
  problem_free (&self);
}

/* Counts failures of the GPU, and may go on without it. */
typedef struct {
  int n_failed;
  bool leaves;
} Device;

static bool
device_failed (void *data, const char *problem)
{
  Device *self = data;

  CUV_CHECK (strstr (problem, "out of memory") != NULL, ": %s", problem);
  self->n_failed++;
  return self->leaves;
}

/* Learns on the GPU, where allocation number n_allocations fails. Returns
 * whether it did. */
static bool
check_device_classifier (
    const CuvTrainSamples samples[2], int depth, bool leaves, int n_allocations)
{
  Device device = { 0, leaves };
  const CuvTrainWatch watch = { &device, NULL, NULL, NULL, device_failed };
  CuvProcessor processor = { .on_device = true };
  CuvTrainTreesParams params = { depth, TREES, 0.7, 0.02, 1, NULL, &watch };
  CuvTrainTree wanted[TREES], trees[TREES];
  int32_t thresholds[2][TREES], final[2];
  bool ok;

  cuv_check_case ("trees: CUDA, depth %d, failing allocation %d, %s", depth,
      n_allocations, leaves ? "then on the CPU" : "then no more");
  CUV_CHECK (cuv_train_trees (
      &samples[0], &samples[1], &params, wanted, thresholds[0], &final[0]));
  params.processor = &processor;
  cuv_cuda_fail_allocation (n_allocations);
  ok = cuv_train_trees (
      &samples[0], &samples[1], &params, trees, thresholds[1], &final[1]);
  cuv_cuda_fail_allocation (-1);
  CUV_CHECK (ok == (leaves || device.n_failed == 0));
  CUV_CHECK (device.n_failed <= 1
      && processor.on_device == (device.n_failed == 0 || !leaves));
  CUV_CHECK (!ok
      || (memcmp (trees, wanted, sizeof trees) == 0
          && memcmp (thresholds[0], thresholds[1], sizeof *thresholds) == 0
          && final[0] == final[1]));
  if (n_allocations < 0) /* some trees are the CPU's */
    check_recalled (samples, &params, wanted, thresholds[0], final[0]);
  return device.n_failed > 0;
}

CUV_CHECKS_CUDA (check_train_trees_cuda)
{
  static uint8_t values[2][N][FEATURES];
  CuvTrainSamples samples[2];
  int n_allocations = 0;

  for (int depth = 1; depth <= CUV_CHANNELS_MAX_DEPTH; depth++) {
    for (int i = 0; i < (cuv_check_options.few ? 2 : 10); i++)
      check_device_set (2 + (int32_t) cuv_check_below (i % 2 ? 20 : 1500),
          1 + (int32_t) cuv_check_below (i % 3 ? 40 : 300), depth);
  }
  for (int i = 0; i < 4; i++)
    check_device_set (50, 700, 1); /* more features than threads */
  if (!cuv_check_options.few)
    check_many_samples ();
  for (int part = 0; part < 2; part++) {
    fill (values[part]);
    samples[part] = (CuvTrainSamples){ N, N / 2, FEATURES, values[part][0] };
  }
  CUV_CHECK (!check_device_classifier (samples, 2, false, -1));
  while (check_device_classifier (samples, 2, true, n_allocations)
      && check_device_classifier (samples, 1, false, n_allocations))
    n_allocations++;
  CUV_CHECK (n_allocations == 8, ": %d allocations", n_allocations);
}

/* ---- speed ---- */

enum { BENCH_SAMPLES = 30000, BENCH_FEATURES = 2560, BENCH_DRAWN = 160 };

typedef struct {
  Problem problem;
  CuvBackend backend;
  CuvProcessor processor;
  int32_t features[BENCH_DRAWN];
} Bench;

static void
learn_one (void *data)
{
  Bench *self = data;
  CuvTrainTree tree;

  cuv_train_begin (&self->problem.set);
  cuv_train_weigh (&self->problem.set);
  cuv_train_trees_learn (&self->backend, &self->problem.set, self->features,
      BENCH_DRAWN, 2, &tree, &self->processor);
}

CUV_BENCH (bench_train_trees)
{
  Bench self = { .problem = problem_new (
                     BENCH_SAMPLES, BENCH_SAMPLES / 3, BENCH_FEATURES),
    .processor = { .on_device = cuv_check_options.cuda } };

  for (int i = 0; i < BENCH_DRAWN; i++)
    self.features[i] = 16 * i;
  CUV_CHECK (cuv_train_trees_open (&self.backend, &self.problem.set,
                 BENCH_FEATURES, &self.processor)
      == NULL);
  cuv_check_report (cuv_check_time (learn_one, &self),
      (double) BENCH_SAMPLES * BENCH_DRAWN, 0,
      "train trees%s, 30000 samples, 160 of 2560 features, depth 2",
      cuv_check_options.cuda ? " cuda" : "");
  cuv_backend_close (&self.backend);
  problem_free (&self.problem);
}
