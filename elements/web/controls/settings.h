/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads and saves the file with values of controls. */
#ifndef CUV_CONTROL_SETTINGS_H
#define CUV_CONTROL_SETTINGS_H

#include "controls/controls-private.h"

G_BEGIN_DECLS

/* Reads the file into the controls, which take the values when their elements
 * come. Returns NULL, also without such a file, or what is wrong and what to
 * do, to be freed. */
gchar *cuv_control_settings_load (CuvControls *self);

/* Returns what is wrong with the control's value in the file, and what to do,
 * to be freed. Frees the reason. */
gchar *cuv_control_settings_problem (
    const CuvControls *self, const CuvControl *control, gchar *reason);

/* Writes the values of controls: an array of the size of the list, in which
 * signals and missing elements have none. Replaces the file at once. Returns
 * NULL, or why that failed, to be freed. */
gchar *cuv_control_settings_save (
    const CuvControls *self, const GValue *values);

G_END_DECLS

#endif
