/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_MODEL_FILE_H
#define CUV_MODEL_FILE_H

#include <glib.h>
#include "model/model.h"

/* The model in a file. A name without a folder that is not in the working
 * folder is looked for in the folders of CUV_MODEL_PATH (colons between) and in
 * those of Debian's opencv-data. options may be NULL. NULL and an error that
 * names the file. */
const CuvWaldboostModel *cuv_model_load (
    const char *name, const CuvModelOptions *options, GError **error);

/* "dir/lbpcascade_frontalface.xml" -> "frontalface"; free it. */
char *cuv_model_label (const char *name);

#endif
