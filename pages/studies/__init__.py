"""The pages around studies. They stand below `pages`, where Streamlit opens no script that the menu does not name."""
