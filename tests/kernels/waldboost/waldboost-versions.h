/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every version of a scan against plain C. */
#ifndef CUV_TEST_WALDBOOST_VERSIONS_H
#define CUV_TEST_WALDBOOST_VERSIONS_H

#include "waldboost-models.h"

/* free() hits and survivors. */
CuvWaldboostResult copy_result (
    const CuvWaldboostResult *result, const CuvWaldboostPlan *plan);
void free_result (CuvWaldboostResult *result);
void check_equal (const char *what, const CuvWaldboostPlan *plan,
    const CuvWaldboostResult *a, const CuvWaldboostResult *b);

/* Plain C's result, with one thread. */
CuvWaldboostResult run_reference (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvFrame *frame);

/* What else the command line asks for, against the expected result: AVX2 and
 * several numbers of threads, or CUDA. */
void check_versions (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvCheckFrame *frame,
    const CuvWaldboostResult *expected);

/* All of it: plain C against the oracle if with_oracle, other versions against
 * plain C, and, of WaldBoost models, other ways to split the work. Returns the
 * number of hits. */
int check_scan (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvCheckFrame *frame,
    bool with_oracle);

/* One detector that goes from frame to frame. */
void check_changes_of_plan (void);

/* In files of their own. */
void check_large_windows (void);
void check_contrast (void);
void check_files (void);
void check_plans (void);
void check_known_answers (void);
void bench (void);

#endif
