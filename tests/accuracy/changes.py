# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes copies of pictures with the changes that people and programs make."""

import cv2
import numpy as np


def jpeg(picture, quality):
    return cv2.imdecode(cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1],
                        cv2.IMREAD_COLOR)


def scaled(picture, scale):
    return cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def cropped(picture, share):
    """Returns the middle of the picture, with this fraction of its area."""
    height, width = picture.shape[:2]
    y, x = (int(size * (1 - share ** 0.5) / 2) for size in (height, width))
    return picture[y:height - y, x:width - x]


def turned(picture, degrees):
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    return cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


def noisy(picture):
    noise = np.random.default_rng(1).normal(0, 20, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def other_hue(picture):
    hsv = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)
    hsv[..., 0] = (hsv[..., 0].astype(int) + 15) % 180
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)


def captioned(picture):
    picture = picture.copy()
    height = picture.shape[0]
    picture[int(height * 0.8):] = 255
    cv2.putText(picture, 'Caption of the day', (10, int(height * 0.93)), 0, 0.8, (0, 0, 0), 2)
    return picture


def grey(picture):
    return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)


CHANGES = {
    'JPEG 10': lambda p: jpeg(p, 10),
    'half the size': lambda p: scaled(p, 0.5),
    '64 pixels wide': lambda p: scaled(p, 64 / p.shape[1]),
    'blurred, sigma 3': lambda p: cv2.GaussianBlur(p, (0, 0), 3),
    'noise, sigma 20': noisy,
    'crop to 80 %, half, JPEG 20': lambda p: jpeg(scaled(cropped(p, 0.8), 0.5), 20),
    'crop to 90 %': lambda p: cropped(p, 0.9),
    'crop to 70 %': lambda p: cropped(p, 0.7),
    'crop to 50 %': lambda p: cropped(p, 0.5),
    'turned by 2 degrees': lambda p: turned(p, 2),
    'turned by 5 degrees': lambda p: turned(p, 5),
    'turned by 90 degrees': lambda p: cv2.rotate(p, cv2.ROTATE_90_CLOCKWISE),
    'mirrored': lambda p: p[:, ::-1].copy(),
    'negative': lambda p: 255 - p,
    'caption': captioned,
    'gamma 2': lambda p: (255 * (p / 255.0) ** 2).astype(np.uint8),
    'grey': lambda p: cv2.cvtColor(grey(p), cv2.COLOR_GRAY2BGR),
    'other hue': other_hue,
}


COPIES = {
    'jpeg-10': lambda p: jpeg(p, 10),
    'jpeg-30': lambda p: jpeg(p, 30),
    'half-the-size': lambda p: scaled(p, 0.5),
    'quarter-of-the-size': lambda p: scaled(p, 0.25),
    'crop-to-80': lambda p: cropped(p, 0.8),
    'crop-to-70': lambda p: cropped(p, 0.7),
    'grey': CHANGES['grey'],
    'gamma-2': CHANGES['gamma 2'],
    'gamma-0.5': lambda p: (255 * (p / 255.0) ** 0.5).astype(np.uint8),
}
