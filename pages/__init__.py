"""The dashboard's pages: one script a page, run by Streamlit from app.py. No page imports another."""
