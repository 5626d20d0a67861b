"""All targets of all files ``fuzz_*.py`` together."""

from tests.campaign.harness import main
from tests.campaign.targets import load_targets

if __name__ == "__main__":
    main(load_targets())
