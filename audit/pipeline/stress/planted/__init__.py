"""Planted changes: does a judge's label change where it must, and stay the same where it must?"""
