from scalkit.guidelines.assessment import assess as assess
from scalkit.guidelines.guideline import Guideline as Guideline
from scalkit.guidelines.guideline import guidelines as guidelines
from scalkit.guidelines.result import Assessment as Assessment
