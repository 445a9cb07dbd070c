"""`make bench`: what we do against what others do, as ratios measured in one run. No part of the tests."""
