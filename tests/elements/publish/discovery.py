# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks messages of Home Assistant's MQTT discovery as its documentation describes them:
https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery and /integrations/sensor.mqtt/
(release 2026.10). Home Assistant ignores unknown keys; here they are errors, since they are
mistakes."""

import re

# <discovery_prefix>/<component>/[<node_id>/]<object_id>/config
TOPIC = re.compile(r"(?P<prefix>.+?)/sensor/(?:[a-zA-Z0-9_-]+/)?[a-zA-Z0-9_-]+/config")
SENSOR = {
    "availability", "availability_mode", "availability_template", "availability_topic",
    "default_entity_id", "device", "device_class", "enabled_by_default", "encoding",
    "entity_category", "entity_picture", "expire_after", "force_update", "icon",
    "json_attributes_template", "json_attributes_topic", "last_reset_value_template", "name",
    "options", "origin", "payload_available", "payload_not_available", "platform", "qos",
    "state_class", "state_topic", "suggested_display_precision", "unique_id",
    "unit_of_measurement", "value_template",
}
DEVICE = {
    "configuration_url", "connections", "hw_version", "identifiers", "manufacturer", "model",
    "model_id", "name", "serial_number", "suggested_area", "sw_version", "via_device",
}
ORIGIN = {"name", "support_url", "sw_version"}
STATE_CLASSES = {"measurement", "measurement_angle", "total", "total_increasing"}
ABBREVIATIONS = {
    "avty": "availability", "avty_mode": "availability_mode", "avty_t": "availability_topic",
    "avty_tpl": "availability_template", "def_ent_id": "default_entity_id", "dev": "device",
    "dev_cla": "device_class", "e": "encoding", "en": "enabled_by_default",
    "ent_cat": "entity_category", "ent_pic": "entity_picture", "exp_aft": "expire_after",
    "frc_upd": "force_update", "ic": "icon", "json_attr_t": "json_attributes_topic",
    "json_attr_tpl": "json_attributes_template", "lrst_val_tpl": "last_reset_value_template",
    "o": "origin", "ops": "options", "p": "platform", "pl_avail": "payload_available",
    "pl_not_avail": "payload_not_available", "stat_cla": "state_class", "stat_t": "state_topic",
    "sug_dsp_prc": "suggested_display_precision", "uniq_id": "unique_id",
    "unit_of_meas": "unit_of_measurement", "val_tpl": "value_template",
}
DEVICE_ABBREVIATIONS = {
    "cu": "configuration_url", "cns": "connections", "hw": "hw_version", "ids": "identifiers",
    "mf": "manufacturer", "mdl": "model", "mdl_id": "model_id", "sa": "suggested_area",
    "sn": "serial_number", "sw": "sw_version",
}
ORIGIN_ABBREVIATIONS = {"sw": "sw_version", "url": "support_url"}


def expand(mapping, abbreviations, known):
    assert isinstance(mapping, dict), mapping
    expanded = {abbreviations.get(key, key): value for key, value in mapping.items()}
    assert len(expanded) == len(mapping), f"a key and its abbreviation: {mapping}"
    assert not set(expanded) - known, f"unknown keys {set(expanded) - known}"
    return expanded


def check_text(value):
    assert isinstance(value, str) and value.strip(), repr(value)


def check_read_topic(topic):
    check_text(topic)
    assert not re.search("[+#\0]", topic) and len(topic.encode()) <= 65535, topic


def check_device(device):
    device = expand(device, DEVICE_ABBREVIATIONS, DEVICE)
    identifiers = device.get("identifiers", [])
    for identifier in [identifiers] if isinstance(identifiers, str) else identifiers:
        check_text(identifier)
    assert identifiers or device.get("connections"), "a device needs one of them"
    for key in set(device) - {"identifiers", "connections"}:
        check_text(device[key])
    return device


def check_availability(config):
    assert not {"availability", "availability_topic"} <= set(config), "exclude each other"
    if "availability_topic" in config:
        check_read_topic(config["availability_topic"])
    for entry in config.get("availability", []):
        check_read_topic(entry["topic"])
    assert config.get("availability_mode", "latest") in ("all", "any", "latest")


def check(topic, config, prefix="homeassistant"):
    """Fails if the message is not valid. Returns it without abbreviations."""
    match = TOPIC.fullmatch(topic)
    assert match and match["prefix"] == prefix, topic
    config = expand(config, ABBREVIATIONS, SENSOR)
    check_read_topic(config["state_topic"])
    check_text(config["unique_id"])  # needed by a device
    check_text(config["name"])
    check_availability(config)
    assert config.get("state_class") in STATE_CLASSES | {None}
    if "unit_of_measurement" in config:
        check_text(config["unit_of_measurement"])
    assert "last_reset_value_template" not in config or config["state_class"] == "total"
    assert config.get("qos", 0) in (0, 1, 2)
    assert config.get("platform", "sensor") == "sensor"
    config["device"] = check_device(config["device"])
    config["origin"] = expand(config["origin"], ORIGIN_ABBREVIATIONS, ORIGIN)
    check_text(config["origin"]["name"])
    return config


def render(template, value):
    """Renders the templates that visionpublish uses."""
    match = re.fullmatch(r"\{\{ value_json\['((?:[^'\\]|\\.)*)'\] \}\}", template)
    if match:
        return value[re.sub(r"\\(.)", r"\1", match[1])]
    match = re.fullmatch(
        r"\{\{ '(\w+)' if value_json\.(\w+) == '(\w+)' else '(\w+)' \}\}", template)
    return match[1] if value[match[2]] == match[3] else match[4]


def is_available(config, value):
    """Returns None if the payload means neither."""
    payload = render(config["availability_template"], value)
    return {config.get("payload_available", "online"): True,
            config.get("payload_not_available", "offline"): False}.get(payload)
