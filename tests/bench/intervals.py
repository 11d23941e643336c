"""95 % intervals of means of a few values, by Student's t."""
import math
import statistics

# Two-sided, by the number of values.
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def interval(values):
    """The mean, and half of the interval around it."""
    half = STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), half
