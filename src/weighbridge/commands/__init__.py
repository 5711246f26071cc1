"""The commands, one thin module each: ``configure`` names the options, ``run`` calls the library and shows the answer."""
