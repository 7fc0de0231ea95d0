/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_LINE_PRIVATE_H
#define CUV_LINE_PRIVATE_H

/* What a process that runs a line is called with: this option, the interval of
 * reports in milliseconds, and the process that started it. */
#define CUV_LINE_OPTION "--run-line"

#endif
