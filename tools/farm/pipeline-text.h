/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a camera's pipeline: the configured one with the values of the
 * camera's JSON object in place of its {placeholders}. */
#ifndef FARM_PIPELINE_TEXT_H
#define FARM_PIPELINE_TEXT_H

#include "farm-config.h"

/* Returns the text of a camera's pipeline. value: the camera's JSON object.
 * Returns NULL with an error if value is not a JSON object, names a pipeline
 * that is not configured, or lacks the value of a placeholder. */
gchar *pipeline_text_new (const FarmConfig *config, const gchar *camera,
    const gchar *value, GError **error);

/* Returns a message of the pipeline without the passwords of URIs and the
 * value's "password", at most 1000 characters long. */
gchar *pipeline_redact (const gchar *value, const gchar *message);

#endif
