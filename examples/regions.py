"""Two regions, one inside the other: an example of bindings/loft.py.

    PYTHONPATH=bindings loft stat --by region -e instructions -- python3 examples/regions.py
"""

import loft

total = 0.0
with loft.region("solve"):
    for _ in range(3):
        with loft.region("sweep"):
            total += sum(float(i) for i in range(100))
print(total)
