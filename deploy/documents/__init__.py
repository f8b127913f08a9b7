"""What the code says about itself, as files: JSON Schemas, the AsyncAPI document, the reference pages."""
