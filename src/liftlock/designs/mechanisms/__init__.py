"""One file for each mechanism; `liftlock.designs.catalogue` lists them."""
