"""Images of the published feedback loops, read from local files of the original data sets; none is bundled.

``mnist``, ``svhn``   files of digits; ``colored`` makes the experiments' images of them
``celeba``, ``fairface``  folders of faces with a table; ``faces`` opens their image files

Each returns `polyculture.lab.images.Images`, and can be named as the loader of a plan.
"""

from polyculture.datasets.images.celeba import celeba
from polyculture.datasets.images.colored import colored_mnist, colored_svhn
from polyculture.datasets.images.fairface import fairface

__all__ = ["celeba", "colored_mnist", "colored_svhn", "fairface"]
