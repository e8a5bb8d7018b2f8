"""The study pages. They are in a subfolder because Streamlit would open any script in `pages`; these open from the menu only."""
