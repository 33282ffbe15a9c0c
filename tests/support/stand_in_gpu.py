"""Python code that divides this machine's CPU into two devices, the second of which stands in for a GPU."""

from __future__ import annotations

TWO_CPUS = """
from gensim_tfw2v.runtime.tensorflow import import_quietly
tf = import_quietly()
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
"""
SECOND_CPU = "CPU:1"  # in TensorFlow's names of it
STAND_IN_GPU = f"""{TWO_CPUS}
first, second = tf.config.list_logical_devices()
assert second.name.endswith("{SECOND_CPU}"), second
found = [first, tf.config.LogicalDevice(second.name, "GPU")]
tf.config.list_logical_devices = lambda device_type=None: found
"""
