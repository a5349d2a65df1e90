"""From a study to stages and jobs: identities, cost, schedule."""
