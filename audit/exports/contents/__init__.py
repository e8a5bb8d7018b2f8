"""What an export holds: one function a table, one a figure; audit.exports.catalogue lists them."""
