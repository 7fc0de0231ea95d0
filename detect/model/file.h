/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and loads model files. */
#ifndef CUV_MODEL_FILE_H
#define CUV_MODEL_FILE_H

#include <glib.h>
#include "model/model.h"

/* Loads a model from a file. A name without a folder that is not in the working
 * folder is searched for in the folders of CUV_MODEL_PATH (separated by
 * colons), among the models that are installed with this project, and in the
 * folders of OpenCV's packages. options may be NULL. On failure returns NULL
 * and sets an error that names the file. */
CUV_API const CuvWaldboostModel *cuv_model_load (
    const char *name, const CuvModelOptions *options, GError **error);

/* Returns whether a file of this name exists where cuv_model_load() looks for
 * it. */
CUV_API gboolean cuv_model_exists (const char *name);

/* Returns a label, such as "frontalface" for "dir/lbpcascade_frontalface.xml";
 * free it. */
CUV_API char *cuv_model_label (const char *name);

#endif
