"""polyculture: who is failed by all the models that judge them?"""
